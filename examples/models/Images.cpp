//===- Images.cpp - the images of known data sets and their files ---------===//
#include "examples/models/Models.h"

namespace models {

std::span<const Images> allImages() {
  static const Images images[] = {
      {"fashion-mnist", 28, 1, 10, 0.2860, 0.3530, 2, "pad-crop+flip"},
      {"cifar10", 32, 3, 10, 0.4734, 0.2516, 4, "pad-crop+flip"},
      {"cifar100", 32, 3, 100, 0.4782, 0.2682, 4, "pad-crop+flip"},
      {"imagenet", 0, 3, 1000, 0.4490, 0.2260, 32, "none"},
      {"arrays", 0, 3, 1000, 0.4490, 0.2260, 32, "none"},
  };
  return images;
}

/// The binary form of CIFAR: records of labels and an image, channels first.
/// The last label counts.
static std::vector<Column> cifar(const std::string &pattern, int64_t labels) {
  constexpr int64_t bytes = 3 * 32 * 32;
  return {{.input = "image",
           .pattern = pattern,
           .format = "records",
           .dimsInFiles = {0, 3, 1, 2},
           .shape = {3, 32, 32},
           .recordBytes = labels + bytes,
           .recordOffset = labels},
          {.input = "label",
           .pattern = pattern,
           .format = "records",
           .recordBytes = labels + bytes,
           .recordOffset = labels - 1}};
}

static std::vector<Column> folder(const std::string &name, int64_t side) {
  return {{.input = "image",
           .pattern = name,
           .format = "images",
           .shape = {side, side, 3}},
          {.input = "label", .pattern = name, .format = "classes"}};
}

static std::vector<Column> two(const std::string &images,
                               const std::string &labels,
                               const std::string &format) {
  return {{"image", images, format}, {"label", labels, format}};
}

void nameData(Graph &net, const Images &images) {
  if (images.name == "cifar10") {
    net.data("train", cifar("data_batch_*.bin", 1));
    net.data("test", cifar("test_batch.bin", 1));
  } else if (images.name == "cifar100") {
    net.data("train", cifar("train.bin", 2));
    net.data("test", cifar("test.bin", 2));
  } else if (images.name == "imagenet") {
    net.data("train", folder("train", images.side));
    net.data("test", folder("val", images.side));
  } else if (images.name == "arrays") {
    net.data("train", two("train-images.npy", "train-labels.npy", "npy"));
    net.data("test", two("test-images.npy", "test-labels.npy", "npy"));
  } else {
    net.data("train", two("train-images*", "train-labels*", "idx"));
    net.data("test", two("t10k-images*", "t10k-labels*", "idx"));
  }
}

} // namespace models
