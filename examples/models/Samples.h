//===- Samples.h - images and labels as networks get them -------*- C++ -*-===//
#ifndef EXAMPLES_MODELS_SAMPLES_H
#define EXAMPLES_MODELS_SAMPLES_H

#include "dsl/Augmentation.h"
#include "examples/models/Models.h"

namespace models {

/// A batch of samples, varied in training.
class Samples {
public:
  /// Declares the inputs "image" and "label". `side` is that of the images that
  /// the network gets. `augment` lists what varies them, as
  /// ModelOptions::augment does.
  Samples(Graph &net, const Images &images, int64_t side, int64_t classes,
          const std::string &augment);
  /// What is wrong in the arguments, or "".
  const std::string &mistake() const { return wrong; }

  /// Numbers with the mean zero and the deviation one, [batch, side, side,
  /// channels]; zeros are around images that are smaller.
  Tensor images() const { return pixels; }
  Tensor labels() const { return mixed.labels; }
  Tensor loss(const Tensor &logits) const;

private:
  bool has(const std::string &variation) const;
  void read(const std::string &augment);
  void vary();

  std::vector<std::string> variations;
  std::string wrong;
  Images files;
  Tensor pixels;
  MixedSamples mixed;
};

} // namespace models

#endif // EXAMPLES_MODELS_SAMPLES_H
