//===- resnet20.h - a residual network for small images ---------*- C++ -*-===//
//
// The network of He et al. (2015), section 4.2, for n = 3: three stages of
// three blocks, with 16, 32 and 64 channels. A shortcut that halves the images
// takes every second pixel, and zeros are its new channels.
//
//===----------------------------------------------------------------------===//
#ifndef EXAMPLES_RESNET_RESNET20_H
#define EXAMPLES_RESNET_RESNET20_H

#include "dsl/Layers.h"

namespace resnet {
using namespace mantissa;

inline Tensor convolve(const Tensor &x, int64_t out, int64_t stride,
                       const std::string &name) {
  return conv2d(x, Conv2d{.out = out,
                          .kernel = 3,
                          .name = name,
                          .stride = stride,
                          .padding = 1,
                          .bias = false});
}

inline Tensor normalize(const Tensor &x, const std::string &name) {
  return batchNorm(x, BatchNorm{.name = name, .channelDim = 3});
}

inline Tensor block(Graph &net, const Tensor &x, int64_t out, int64_t stride) {
  Tensor y = relu(normalize(convolve(x, out, stride, "conv1"), "bn1"));
  y = normalize(convolve(y, out, 1, "conv2"), "bn2");
  Tensor shortcut = x;
  if (stride != 1) {
    shortcut = slice(x, {0, 0, 0, 0}, {-1, -1, -1, -1},
                     {.strides = Dims{1, stride, stride, 1}});
    shortcut = pad(shortcut, {0, 0, 0, 0}, {0, 0, 0, out - x.size(-1)});
  }
  return relu(y + shortcut);
}

/// Moves each image by up to `most` pixels in each direction and mirrors every
/// second one, at random, in training.
inline Tensor augment(Graph &net, const Tensor &images, double most) {
  auto distance = [&] {
    UniformOptions options{.low = -most, .high = most + 1};
    return cast(floor(uniform(net, {F32, {Batch}}, options)), I32);
  };
  Tensor mirrored = uniform(net, {F32, {Batch}}) < 0.5;
  return augmentImages(images, distance(), distance(), {.mirrored = mirrored});
}

/// From images [batch, height, width, channels] to logits.
inline Tensor resnet20(Graph &net, Tensor x, int64_t classes) {
  x = relu(normalize(convolve(x, 16, 1, "conv1"), "bn1"));
  for (int64_t stage = 1; stage <= 3; ++stage)
    for (int64_t number = 0; number < 3; ++number) {
      auto scope = net.scope("layer" + std::to_string(stage) + "." +
                             std::to_string(number));
      int64_t stride = stage > 1 && number == 0 ? 2 : 1;
      x = block(net, x, 8 << stage, stride);
    }
  return linear(mean(x, {1, 2}), {.out = classes, .name = "linear"});
}

/// The network on Fashion-MNIST, and how it is trained in mixed precision.
inline void build(Graph &net) {
  Tensor image = net.input("image", U8, {Batch, 28, 28});
  Tensor label = net.input("label", U8, {Batch});
  Tensor x = augment(net, reshape(image, {Batch, 28, 28, 1}), 2);
  // Mean and deviation of the pixels of the training images.
  x = (cast(x, F32) / 255 - 0.2860) / 0.3530;
  Tensor logits = resnet20(net, x, 10);
  net.output("loss", crossEntropy(logits, label));
  net.output("accuracy", accuracy(logits, label));
  net.train(
      {.optimizer = sgd({.lr = 0.1, .momentum = 0.9, .weightDecay = 5e-4}),
       .schedule = cosine({.warmup = 200}),
       .precision = "bf16"});
  net.data("train", {{"image", "train-images*", "idx"},
                     {"label", "train-labels*", "idx"}});
  net.data("test", {{"image", "t10k-images*", "idx"},
                    {"label", "t10k-labels*", "idx"}});
}

} // namespace resnet

#endif // EXAMPLES_RESNET_RESNET20_H
