//===- Models.h - classifiers of images, by name ----------------*- C++ -*-===//
//
// The networks that the literature of mixed precision names, in the graph DSL,
// a file each. Names of parameters are torchvision's where it has the network,
// so that its state_dicts load and save. A network is an ordinary function; a
// program may call it in a graph of its own.
//
//===----------------------------------------------------------------------===//
#ifndef EXAMPLES_MODELS_MODELS_H
#define EXAMPLES_MODELS_MODELS_H

#include "examples/models/Blocks.h"
#include <span>

namespace models {

/// The logits [batch, classes] of a classifier, and those of layers in its
/// middle, whose losses are added with a weight in training.
struct Logits {
  Logits(Tensor last) : last(std::move(last)) {}
  Tensor last;
  std::vector<Tensor> auxiliary = {};
  double auxiliaryWeight = 0;
};

/// A network from images [batch, height, width, channels] of f32.
using Network = Logits (*)(Graph &net, Tensor images, int64_t classes,
                           const Width &width);

Logits lenet(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits alexnet(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits vgg16(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits googlenet(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits inceptionV2(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits inceptionV3(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits resnet18(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits resnet20(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits resnet34(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits resnet50(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits mobilenetV2(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits mlpMixer(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits vitTiny(Graph &net, Tensor x, int64_t classes, const Width &width);
Logits vitBase(Graph &net, Tensor x, int64_t classes, const Width &width);

/// Whether a network has its form for small images: its first layers keep the
/// size that those for photographs divide by four.
inline bool isSmall(const Tensor &images) { return images.size(1) < 64; }

/// Images of bytes in files.
struct Images {
  std::string name;
  int64_t side; ///< 0: as large as the network takes them
  int64_t channels, classes;
  double mean, deviation; ///< of all pixels of the training images
  int64_t padding;        ///< of random crops
  std::string augment;    ///< unless another augmentation is named
};
std::span<const Images> allImages();

/// Names the files of the images, as data sources "train" and "test".
void nameData(Graph &net, const Images &images);

/// A network with the images that it is trained on unless others are named.
struct Model {
  std::string name, about;
  Network network;
  std::string images;
  int64_t side; ///< of the images it is given
};
std::span<const Model> allModels();

/// What differs from the model's own.
struct ModelOptions {
  double width = 1;        ///< factor of the numbers of channels
  int64_t classes = 0;     ///< 0: those of the images
  int64_t side = 0;        ///< of the images that the network is given
  std::string images = {}; ///< name of the files' images
  /// What varies the samples in training: names of allVariations() with '+'
  /// between them, "none", or "" for what the images have.
  std::string augment = {};
};

/// What --augment can name.
struct Variation {
  std::string name, about;
};
std::span<const Variation> allVariations();

/// Adds a model with its data and a recipe in bf16 to a graph. Returns what is
/// wrong in the options, or "".
std::string build(Graph &net, const Model &model, const ModelOptions &options);

} // namespace models

#endif // EXAMPLES_MODELS_MODELS_H
