//===- residual.h - what residual networks of images share ------*- C++ -*-===//
//
// Convolutions with batch norm, the data that the networks are trained on, and
// how they are trained in mixed precision.
//
//===----------------------------------------------------------------------===//
#ifndef EXAMPLES_RESNET_RESIDUAL_H
#define EXAMPLES_RESNET_RESIDUAL_H

#include "dsl/Layers.h"

namespace resnet {
using namespace mantissa;

/// A square window that keeps the size of the images at a stride of one.
struct Window {
  int64_t size = 3, stride = 1;
};

inline Tensor convolve(const Tensor &x, int64_t out, const Window &window,
                       const std::string &name) {
  return conv2d(x, Conv2d{.out = out,
                          .kernel = window.size,
                          .name = name,
                          .stride = window.stride,
                          .padding = window.size / 2,
                          .bias = false});
}

inline Tensor normalize(const Tensor &x, const std::string &name) {
  return batchNorm(x, BatchNorm{.name = name, .channelDim = 3});
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

/// Images of bytes that a network is trained on.
struct Images {
  int64_t side, channels, classes;
  double mean, deviation; ///< of all pixels of the training images
  double moved;           ///< pixels of the augmentation; none if 0
};
inline constexpr Images kFashionMnist{28, 1, 10, 0.2860, 0.3530, 2};
inline constexpr Images kCifar10{32, 3, 10, 0.4734, 0.2516, 4};
inline constexpr Images kImageNet{224, 3, 1000, 0.4490, 0.2260, 0};

/// The files of Fashion-MNIST and of all that is stored as MNIST is.
inline void nameIdxFiles(Graph &net) {
  net.data("train", {{"image", "train-images*", "idx"},
                     {"label", "train-labels*", "idx"}});
  net.data("test", {{"image", "t10k-images*", "idx"},
                    {"label", "t10k-labels*", "idx"}});
}

inline void nameNpyFiles(Graph &net) {
  net.data("train", {{"image", "train-images.npy", "npy"},
                     {"label", "train-labels.npy", "npy"}});
  net.data("test", {{"image", "test-images.npy", "npy"},
                    {"label", "test-labels.npy", "npy"}});
}

/// Trains a network, a function from a Graph, images [batch, side, side,
/// channels] and the number of classes to logits.
template <typename Network>
void build(Graph &net, const Images &images, const Network &network) {
  Dims shape{Batch, images.side, images.side};
  Dims deep{Batch, images.side, images.side, images.channels};
  Tensor image = net.input("image", U8, images.channels == 1 ? shape : deep);
  Tensor label = net.input("label", images.classes > 256 ? I32 : U8, {Batch});
  Tensor x = images.channels == 1 ? reshape(image, deep) : image;
  if (images.moved > 0)
    x = augment(net, x, images.moved);
  x = (cast(x, F32) / 255 - images.mean) / images.deviation;
  Tensor logits = network(net, x, images.classes);
  net.output("loss", crossEntropy(logits, label));
  net.output("accuracy", accuracy(logits, label));
  net.train(
      {.optimizer = sgd({.lr = 0.1, .momentum = 0.9, .weightDecay = 5e-4}),
       .schedule = cosine({.warmup = 200}),
       .precision = "bf16"});
  images.channels == 1 ? nameIdxFiles(net) : nameNpyFiles(net);
}

} // namespace resnet

#endif // EXAMPLES_RESNET_RESIDUAL_H
