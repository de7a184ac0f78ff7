//===- ConvolutionSizes.h - a convolution as plain data ---------*- C++ -*-===//
//
// What decides a convolution's kernel, with a text form, and the product that
// it is: without MLIR, for plans and tuners.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONSIZES_H
#define MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONSIZES_H

#include "codegen/cuda/contraction/Gemm.h"
#include <array>

namespace mp::cuda {

/// A convolution of images whose channels are last, or its gradient from one of
/// its operands. Pairs are of height and width.
struct ConvolutionSizes {
  enum class Kind { Forward, BackwardInput, BackwardWeight };

  ElementType type = ElementType::F32;
  bool tf32 = false;
  Kind kind = Kind::Forward;
  int64_t images = 1;
  std::array<int64_t, 2> input = {1, 1};
  int64_t groups = 1, inputs = 1, outputs = 1; ///< channels of one group
  std::array<int64_t, 2> window = {1, 1}, strides = {1, 1};
  std::array<int64_t, 2> low = {0, 0}, high = {0, 0}; ///< padding
  std::array<int64_t, 2> dilations = {1, 1};

  /// "forward", "backward_input" or "backward_weight".
  llvm::StringRef kindName() const;
  /// Returns the height or width of the output.
  int64_t output(int dim) const;
  /// The tensors' sizes: images, height, width, channels; of the weight,
  /// channels of the output, height, width, channels of a group of the input.
  std::vector<int64_t> inputSizes() const;
  std::vector<int64_t> weightSizes() const;
  std::vector<int64_t> outputSizes() const;

  /// Whether the product's operands and result are the tensors themselves.
  bool isProduct() const;
  /// Whether rows of the product's result are not rows of its tensor: then no
  /// column of theirs is in one block.
  bool wrapsColumns() const { return kind == Kind::BackwardWeight; }
  /// Whether every channel is a group: kernels sum channel by channel then
  /// (conv-depthwise.cuh).
  bool isDepthwise() const { return groups > 1 && inputs == 1 && outputs == 1; }
  /// Returns the product for each group, and in the gradient of the input, for
  /// each phase of the stride. A depthwise convolution has the channels as its
  /// columns.
  GemmShape product() const;
  /// Returns how a depthwise convolution is cut up.
  GemmConfig depthwiseConfig() const;
  /// Returns configs worth measuring, the best guess first, at most `most`.
  std::vector<GemmConfig> candidates(const Arch &arch, size_t most) const;
  /// The multiplications and additions, those with padding too.
  uint64_t flops() const;

  /// "f16 forward 8x56x56x64 64x3x3 groups 1 strides 2x2 low 1x1 high 1x1
  /// dilations 1x1": type ("tf32" where that is allowed), kind, input, and the
  /// output's channels with the window.
  std::string str() const;
  /// Errors: another form; numbers that are too small; a window larger than the
  /// padded input; groups that do not divide the channels; a plain product,
  /// which has the kernels of one.
  static llvm::Expected<ConvolutionSizes> parse(llvm::StringRef text);
  bool operator==(const ConvolutionSizes &) const = default;

private:
  /// Pixels of the input, by the remainder when divided by the stride.
  int64_t phases(int dim) const;
  /// The most taps that reach a phase.
  int64_t tapsOfPhase(int dim) const;
  /// The elements from the window's first to its last, both included.
  int64_t span(int dim) const { return (window[dim] - 1) * dilations[dim] + 1; }
};

/// Returns why the kernels do not exist in this form; empty if they do.
std::string whyNot(const ConvolutionSizes &sizes, const GemmConfig &config,
                   const Arch &arch);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTIONSIZES_H
