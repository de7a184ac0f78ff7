//===- resnet50.h - a residual network of bottlenecks -----------*- C++ -*-===//
//
// The network of He et al. (2015), table 1, of 3, 4, 6 and 3 blocks, with the
// stride in the window of 3x3 and the names of torchvision's resnet50. For
// small images it begins with a window of 3x3 and does not pool.
//
//===----------------------------------------------------------------------===//
#ifndef EXAMPLES_RESNET_RESNET50_H
#define EXAMPLES_RESNET_RESNET50_H

#include "examples/resnet/residual.h"

namespace resnet {

/// A bottleneck of `width` channels between four times as many.
inline Tensor bottleneck(const Tensor &x, int64_t width, int64_t stride) {
  int64_t out = 4 * width;
  Tensor y = relu(normalize(convolve(x, width, {1, 1}, "conv1"), "bn1"));
  y = relu(normalize(convolve(y, width, {3, stride}, "conv2"), "bn2"));
  y = normalize(convolve(y, out, {1, 1}, "conv3"), "bn3");
  if (x.size(-1) == out)
    return relu(y + x);
  Tensor shortcut = convolve(x, out, {1, stride}, "downsample.0");
  return relu(y + normalize(shortcut, "downsample.1"));
}

/// From images [batch, height, width, channels] to logits.
inline Tensor resnet50(Graph &net, Tensor x, int64_t classes) {
  bool small = x.size(1) < 64;
  Window first = small ? Window{3, 1} : Window{7, 2};
  x = relu(normalize(convolve(x, 64, first, "conv1"), "bn1"));
  if (!small)
    x = maxPool2d(
        x, {3, 3},
        {.strides = Dims{2, 2}, .low = Dims{1, 1}, .high = Dims{1, 1}});
  constexpr int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 1; stage <= 4; ++stage)
    for (int64_t number = 0; number < blocks[stage - 1]; ++number) {
      auto scope = net.scope("layer" + std::to_string(stage) + "." +
                             std::to_string(number));
      x = bottleneck(x, 32 << stage, stage > 1 && number == 0 ? 2 : 1);
    }
  return linear(mean(x, {1, 2}), {.out = classes, .name = "fc"});
}

} // namespace resnet

#endif // EXAMPLES_RESNET_RESNET50_H
