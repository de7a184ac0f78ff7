//===- Models.cpp - the models with their data and recipe -----------------===//
#include "examples/models/Models.h"
#include <algorithm>

namespace models {

int64_t Width::operator()(int64_t channels) const {
  if (factor == 1)
    return channels;
  double scaled = channels * factor;
  int64_t rounded = std::max<int64_t>(8, int64_t(scaled + 4) / 8 * 8);
  return rounded < 0.9 * scaled ? rounded + 8 : rounded;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::span<const Model> allModels() {
  static const Model models[] = {
      {"lenet", "LeNet-5", lenet, "fashion-mnist", 28},
      {"alexnet", "AlexNet, one column", alexnet, "imagenet", 224},
      {"vgg16", "VGG, configuration D", vgg16, "imagenet", 224},
      {"googlenet", "GoogLeNet with batch norm", googlenet, "imagenet", 224},
      {"inception-v2", "Inception with batch norm", inceptionV2, "imagenet",
       224},
      {"inception-v3", "Inception of factorized windows", inceptionV3,
       "imagenet", 299},
      {"resnet18", "residual, 18 layers", resnet18, "imagenet", 224},
      {"resnet34", "residual, 34 layers", resnet34, "imagenet", 224},
      {"resnet50", "residual, 50 layers", resnet50, "imagenet", 224},
      {"resnet20", "residual for small images", resnet20, "fashion-mnist", 28},
      {"resnet20-cifar", "the same on 32x32 pixels", resnet20, "cifar10", 32},
      {"resnet50-cifar", "resnet50 for small images", resnet50, "cifar10", 32},
      {"mobilenet-v2", "inverted residuals, depthwise", mobilenetV2, "imagenet",
       224},
      {"mlp-mixer", "MLP-Mixer S/16", mlpMixer, "imagenet", 224},
      {"vit-tiny", "vision transformer Ti/16", vitTiny, "imagenet", 224},
  };
  return models;
}

//===----------------------------------------------------------------------===//
// Data and recipe
//===----------------------------------------------------------------------===//

/// Moves each image by up to `most` pixels in each direction and mirrors every
/// second one, at random, in training.
static Tensor augment(Graph &net, const Tensor &images, int64_t most) {
  auto distance = [&] {
    UniformOptions options{.low = double(-most), .high = double(most + 1)};
    return cast(floor(uniform(net, {F32, {Batch}}, options)), I32);
  };
  Tensor mirrored = uniform(net, {F32, {Batch}}) < 0.5;
  return augmentImages(images, distance(), distance(), {.mirrored = mirrored});
}

/// The images of a batch as numbers, of `side` pixels: zeros are around those
/// that have fewer.
static Tensor imagesOf(Graph &net, const Images &images, int64_t side) {
  Dims flat{Batch, images.side, images.side};
  Dims deep{Batch, images.side, images.side, images.channels};
  bool isGrey = images.channels == 1;
  Tensor x = net.input("image", U8, isGrey ? flat : deep);
  if (isGrey)
    x = reshape(x, deep);
  if (images.moved > 0)
    x = augment(net, x, images.moved);
  x = (cast(x, F32) / 255 - images.mean) / images.deviation;
  int64_t before = (side - images.side) / 2,
          after = side - images.side - before;
  return side == images.side
             ? x
             : pad(x, {0, before, before, 0}, {0, after, after, 0});
}

std::string build(Graph &net, const Model &model, const ModelOptions &options) {
  std::string name = options.images.empty() ? model.images : options.images;
  auto images = std::ranges::find(allImages(), name, &Images::name);
  if (images == allImages().end())
    return "no images are called '" + name + "'";
  bool isOwn = name == model.images;
  int64_t side = options.side   ? options.side
                 : isOwn        ? model.side
                 : images->side ? images->side
                                : model.side;
  // Files of photographs have the size that the network is given.
  Images files = *images;
  if (!files.side)
    files.side = side;
  if (side < files.side)
    return name + " has images of " + std::to_string(files.side) +
           " pixels, and the network is given " + std::to_string(side);
  int64_t classes = options.classes ? options.classes : files.classes;
  Width width{options.width};
  Logits logits =
      model.network(net, imagesOf(net, files, side), classes, width);
  Tensor label = net.input("label", classes > 256 ? I32 : U8, {Batch});
  Tensor loss = crossEntropy(logits.last, label);
  if (!logits.auxiliary.empty())
    net.output("loss_of_last", loss);
  for (const Tensor &auxiliary : logits.auxiliary)
    loss = loss + crossEntropy(auxiliary, label) * logits.auxiliaryWeight;
  net.output("loss", loss);
  net.output("accuracy", accuracy(logits.last, label));
  net.output("logits", logits.last);
  net.train(
      {.optimizer = sgd({.lr = 0.1, .momentum = 0.9, .weightDecay = 5e-4}),
       .schedule = cosine({.warmup = 200}),
       .precision = "bf16"});
  nameData(net, files);
  return "";
}

} // namespace models
