//===- Layers.h - layers that own their variables ---------------*- C++ -*-===//
//
// Names, arguments, defaults and first values are those of torch.nn, so that a
// state_dict of PyTorch fits. A layer is an ordinary function; so are models.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_LAYERS_H
#define MANTISSA_DSL_LAYERS_H

#include "dsl/Graph.h"

namespace mantissa {

/// torch.nn.Linear: y = x W^T + b.
struct Linear {
  int64_t out = 0;       ///< features of the result
  std::string name = {}; ///< of its variables: name.weight [out, in], name.bias
  bool bias = true;
};
Tensor linear(const Operand &input, const Linear &layer);

/// A number for the height of images and one for their width, or one for both.
struct HeightWidth {
  int64_t height, width;
  HeightWidth(int64_t both) : height(both), width(both) {}
  HeightWidth(int64_t height, int64_t width) : height(height), width(width) {}
  bool operator==(const HeightWidth &) const = default;
};

/// torch.nn.Conv2d with channels last: images [batch, height, width, in].
struct Conv2d {
  int64_t out = 0;        ///< channels of the result
  HeightWidth kernel = 0; ///< size of the window
  /// name.weight [out, height, width, in / groups], which files have in
  /// PyTorch's order, [out, in / groups, height, width]
  std::string name = {};
  HeightWidth stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;                    ///< name.bias [out]
  Initializer init = kaimingUniform(); ///< of the weight
};
Tensor conv2d(const Operand &input, const Conv2d &layer);

/// torch.nn.ConvTranspose2d with channels last: images [batch, height, width,
/// in], whose height and width are known.
struct ConvTranspose2d {
  int64_t out = 0;        ///< channels of the result
  HeightWidth kernel = 0; ///< size of the window
  /// name.weight [in, height, width, out / groups], which files have in
  /// PyTorch's order, [in, out / groups, height, width]
  std::string name = {};
  HeightWidth stride = 1, padding = 0;
  /// rows and columns that the result has more; less than the stride or the
  /// dilation
  HeightWidth outputPadding = 0;
  HeightWidth dilation = 1;
  int64_t groups = 1;
  bool bias = true; ///< name.bias [out]
};
Tensor convTranspose2d(const Operand &input, const ConvTranspose2d &layer);

/// torch.nn.Embedding: rows of a table by index.
struct Embedding {
  int64_t count = 0; ///< rows of the table
  int64_t width = 0; ///< of a row
  std::string name = {};
};
Tensor embedding(const Operand &indices, const Embedding &layer);

/// torch.nn.MultiheadAttention of a sequence to itself, batch first: `input` is
/// [batch, tokens, channels], as the result is.
struct MultiheadAttention {
  int64_t heads = 0;     ///< divides the channels
  std::string name = {}; ///< of name.in_proj_weight, name.out_proj.weight
  bool bias = true;      ///< name.in_proj_bias, name.out_proj.bias
  /// Which keys are looked at; `query_offset` and `scale` too.
  ScaledDotProductAttentionOptions options = {};
};
Tensor multiheadAttention(const Operand &input,
                          const MultiheadAttention &layer);

/// torch.nn.LayerNorm over the last dimension.
struct LayerNorm {
  std::string name = {};
  double eps = 1e-5;
  bool affine = true; ///< name.weight and name.bias
};
Tensor layerNorm(const Operand &input, const LayerNorm &layer);

/// torch.nn.RMSNorm over the last dimension.
struct RmsNorm {
  std::string name = {};
  std::optional<double> eps = {};
};
Tensor rmsNorm(const Operand &input, const RmsNorm &layer);

/// torch.nn.BatchNorm: over all dimensions but that of the channels, which is
/// the second one unless given: 3 for images with channels last. Its running
/// statistics are buffers.
struct BatchNorm {
  std::string name = {};
  double eps = 1e-5, momentum = 0.1;
  int64_t channelDim = 1;
};
Tensor batchNorm(const Operand &input, const BatchNorm &layer);

/// How Llama 3.1 and later read longer texts than they were first trained on
/// ("llama3" in Hugging Face): pairs of channels that turn fewer than `low`
/// times in `tokens` positions turn slower by the factor, those that turn more
/// than `high` times are left as they are, and between them the share of both
/// is linear.
struct RotaryScaling {
  double factor = 8, low = 1, high = 4;
  int64_t tokens = 8192;
};

/// The angles of rotary position embeddings (Su et al. 2021, RoFormer), for
/// `rotaryEmbedding`: the pair i of the channels of a head is turned by
/// position * base^(-2 i / channels) radians, computed in f32 as in Hugging
/// Face. One table serves all layers.
struct Rotary {
  int64_t tokens = 0;   ///< positions, from 0 on
  int64_t channels = 0; ///< of a head
  double base = 10000;
  std::optional<RotaryScaling> scaling = {};
};
struct RotaryAngles {
  Tensor cos, sin; ///< [tokens, channels / 2], f32
};
RotaryAngles rotaryAngles(const Context &context, const Rotary &rotary);

} // namespace mantissa

#endif // MANTISSA_DSL_LAYERS_H
