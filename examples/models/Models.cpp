//===- Models.cpp - the models with their data and recipe -----------------===//
#include "examples/models/Models.h"
#include "examples/models/Samples.h"
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
      {"vit-base", "vision transformer B/16", vitBase, "imagenet", 224},
  };
  return models;
}

//===----------------------------------------------------------------------===//
// Data and recipe
//===----------------------------------------------------------------------===//

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
  Samples samples(net, files, side, classes,
                  options.augment.empty() ? files.augment : options.augment);
  if (!samples.mistake().empty())
    return samples.mistake();
  Logits logits = model.network(net, samples.images(), classes, width);
  Tensor loss = samples.loss(logits.last);
  if (!logits.auxiliary.empty())
    net.output("loss_of_last", loss);
  for (const Tensor &auxiliary : logits.auxiliary)
    loss = loss + samples.loss(auxiliary) * logits.auxiliaryWeight;
  net.output("loss", loss);
  net.output("accuracy", accuracy(logits.last, samples.labels()));
  if (classes > 5)
    net.output("top5", accuracy(logits.last, samples.labels(), {.topK = 5}));
  net.output("logits", logits.last);
  net.train(
      {.optimizer = sgd({.lr = 0.1, .momentum = 0.9, .weightDecay = 5e-4}),
       .schedule = cosine({.warmup = 200}),
       .precision = "bf16"});
  nameData(net, files);
  return "";
}

} // namespace models
