//===- Samples.cpp - images and labels as networks get them ---------------===//
#include "examples/models/Samples.h"
#include "support/Spelling.h"
#include <algorithm>

namespace models {

std::span<const Variation> allVariations() {
  static const Variation variations[] = {
      {"pad-crop", "moved by some pixels"},
      {"flip", "mirrored, every second one"},
      {"resized-crop", "a box of 8 to 100 % of the area, resized"},
      {"jitter", "brightness, contrast, saturation and hue"},
      {"mixup", "blended with another sample, alpha 0.2"},
      {"cutmix", "a box of another sample, alpha 1"},
  };
  return variations;
}

bool Samples::has(const std::string &variation) const {
  return std::ranges::find(variations, variation) != variations.end();
}

/// Splits a list of variations, which names each once.
void Samples::read(const std::string &augment) {
  if (augment == "none")
    return;
  std::vector<std::string> known;
  for (const Variation &variation : allVariations())
    known.push_back(variation.name);
  for (size_t first = 0; first <= augment.size() && wrong.empty();) {
    size_t end = std::min(augment.find('+', first), augment.size());
    std::string name = augment.substr(first, end - first);
    first = end + 1;
    if (std::ranges::find(known, name) == known.end())
      wrong =
          "no augmentation is called '" + name + "'" + mp::suggest(name, known);
    else if (has(name))
      wrong = "the augmentation '" + name + "' is named twice";
    variations.push_back(name);
  }
}

Samples::Samples(Graph &net, const Images &images, int64_t side,
                 int64_t classes, const std::string &augment)
    : files(images) {
  read(augment);
  if (!wrong.empty())
    return;
  Dims flat{Batch, images.side, images.side};
  Dims deep{Batch, images.side, images.side, images.channels};
  bool isGrey = images.channels == 1;
  pixels = net.input("image", U8, isGrey ? flat : deep);
  if (isGrey)
    pixels = reshape(pixels, deep);
  mixed.labels = net.input("label", classes > 256 ? I32 : U8, {Batch});
  vary();
  pixels = normalizeImages(pixels, {images.mean}, {images.deviation});
  int64_t before = (side - images.side) / 2,
          after = side - images.side - before;
  if (side != images.side)
    pixels = pad(pixels, {0, before, before, 0}, {0, after, after, 0});
}

void Samples::vary() {
  int64_t padding = has("pad-crop") ? files.padding : 0;
  double flip = has("flip") ? 0.5 : 0;
  if (padding > 0 || flip > 0)
    pixels = randomCrop(pixels, {.padding = padding, .flip = flip});
  if (has("resized-crop"))
    pixels = randomResizedCrop(pixels, {.size = files.side});
  if (has("jitter"))
    pixels = colorJitter(
        pixels,
        {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1});
  if (has("mixup") || has("cutmix")) {
    mixed = mixSamples(
        pixels, mixed.labels,
        {.mixup = has("mixup") ? 0.2 : 0, .cutmix = has("cutmix") ? 1. : 0});
    pixels = mixed.images;
  }
}

Tensor Samples::loss(const Tensor &logits) const {
  return mixed.share ? mixed.loss(logits) : crossEntropy(logits, mixed.labels);
}

} // namespace models
