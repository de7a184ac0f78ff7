//===- Blocks.h - what several models are made of ---------------*- C++ -*-===//
#ifndef EXAMPLES_MODELS_BLOCKS_H
#define EXAMPLES_MODELS_BLOCKS_H

#include "dsl/Layers.h"

namespace models {
using namespace mantissa;

/// Scales numbers of channels: to the nearest multiple of 8 that is at least
/// 0.9 of the scaled number, as torchvision's MobileNetV2 does.
struct Width {
  double factor = 1;
  int64_t operator()(int64_t channels) const;
};

/// "layer1" and 0 make "layer1.0".
inline std::string dotted(const std::string &name, int64_t number) {
  return name + "." + std::to_string(number);
}

/// A window of `kernel` with these channels as its result.
struct Filter {
  int64_t out;
  HeightWidth kernel = 1, stride = 1, padding = 0;
  int64_t groups = 1;
  bool bias = false;
  Initializer init = kaimingUniform();
};
inline Tensor convolve(const Tensor &x, const Filter &filter,
                       const std::string &name) {
  return conv2d(x, Conv2d{.out = filter.out,
                          .kernel = filter.kernel,
                          .name = name,
                          .stride = filter.stride,
                          .padding = filter.padding,
                          .groups = filter.groups,
                          .bias = filter.bias,
                          .init = filter.init});
}

inline Tensor normalize(const Tensor &x, const std::string &name,
                        double eps = 1e-5) {
  return batchNorm(x, BatchNorm{.name = name, .eps = eps, .channelDim = 3});
}

/// torchvision's BasicConv2d: name.conv, name.bn and relu.
inline Tensor basicConv(const Tensor &x, const Filter &filter,
                        const std::string &name) {
  return relu(
      normalize(convolve(x, filter, name + ".conv"), name + ".bn", 0.001));
}

/// torch.nn.MaxPool2d by a square window.
inline Tensor maxPool(const Tensor &x, int64_t size, int64_t stride,
                      int64_t padding = 0, bool ceilMode = false) {
  Dims around{padding, padding};
  return maxPool2d(x, {size, size},
                   {.strides = Dims{stride, stride},
                    .low = around,
                    .high = around,
                    .ceilMode = ceilMode});
}

/// torch.nn.AvgPool2d by a square window.
inline Tensor avgPool(const Tensor &x, int64_t size, int64_t stride,
                      int64_t padding = 0) {
  Dims around{padding, padding};
  return avgPool2d(
      x, {size, size},
      {.strides = Dims{stride, stride}, .low = around, .high = around});
}

/// The mean of each channel: [batch, channels].
inline Tensor poolAll(const Tensor &x) { return mean(x, {1, 2}); }

/// Elements in the order of PyTorch's, which has the channels first.
inline Tensor flattenImages(const Tensor &x) {
  return flatten(transpose(x, {0, 3, 1, 2}));
}

} // namespace models

#endif // EXAMPLES_MODELS_BLOCKS_H
