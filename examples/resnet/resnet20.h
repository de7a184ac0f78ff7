//===- resnet20.h - a residual network for small images ---------*- C++ -*-===//
//
// The network of He et al. (2015), section 4.2, for n = 3: three stages of
// three blocks, with 16, 32 and 64 channels. A shortcut that halves the images
// takes every second pixel, and zeros are its new channels.
//
//===----------------------------------------------------------------------===//
#ifndef EXAMPLES_RESNET_RESNET20_H
#define EXAMPLES_RESNET_RESNET20_H

#include "examples/resnet/residual.h"

namespace resnet {

inline Tensor block(const Tensor &x, int64_t out, int64_t stride) {
  Tensor y = relu(normalize(convolve(x, out, {3, stride}, "conv1"), "bn1"));
  y = normalize(convolve(y, out, {3, 1}, "conv2"), "bn2");
  Tensor shortcut = x;
  if (stride != 1) {
    shortcut = slice(x, {0, 0, 0, 0}, {-1, -1, -1, -1},
                     {.strides = Dims{1, stride, stride, 1}});
    shortcut = pad(shortcut, {0, 0, 0, 0}, {0, 0, 0, out - x.size(-1)});
  }
  return relu(y + shortcut);
}

/// From images [batch, height, width, channels] to logits.
inline Tensor resnet20(Graph &net, Tensor x, int64_t classes) {
  x = relu(normalize(convolve(x, 16, {3, 1}, "conv1"), "bn1"));
  for (int64_t stage = 1; stage <= 3; ++stage)
    for (int64_t number = 0; number < 3; ++number) {
      auto scope = net.scope("layer" + std::to_string(stage) + "." +
                             std::to_string(number));
      x = block(x, 8 << stage, stage > 1 && number == 0 ? 2 : 1);
    }
  return linear(mean(x, {1, 2}), {.out = classes, .name = "linear"});
}

} // namespace resnet

#endif // EXAMPLES_RESNET_RESNET20_H
