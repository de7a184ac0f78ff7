//===- Augmentation.h - samples that training varies ------------*- C++ -*-===//
//
// Images are [batch, height, width, channels]: bytes, or floats from 0 to 1.
// The results have the element type of the operand, and bytes are rounded to
// nearest. What is drawn at random is for training alone: in evaluation, images
// stay as they are. Each of them has random numbers of its own, by the place in
// the batch and the step attempt, so a step that is repeated varies its samples
// in the same way on any number of threads.
//
// A mistake in an argument is reported as one of the graph.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_AUGMENTATION_H
#define MANTISSA_DSL_AUGMENTATION_H

#include "dsl/Layers.h"

namespace mantissa {

//===----------------------------------------------------------------------===//
// Places of pixels
//===----------------------------------------------------------------------===//

/// torchvision's RandomCrop(size, padding) and RandomHorizontalFlip, in one
/// kernel.
struct RandomCrop {
  int64_t padding = 0; ///< the most pixels of a move in any direction; zeros
                       ///< come in
  double flip = 0;     ///< the probability that an image is mirrored
};
Tensor randomCrop(const Operand &images, const RandomCrop &crop);

/// torchvision's RandomResizedCrop: a box of each image, of a random area,
/// shape and place, resized to one size between pixels, without antialias.
///
/// A box that does not lie in the image is drawn again, as there, up to three
/// times. The shape of the last one is drawn among those that fit, where
/// torchvision takes the middle of the image after ten.
struct RandomResizedCrop {
  HeightWidth size;                            ///< of the result
  double minArea = 0.08, maxArea = 1;          ///< as a share of the image
  double minRatio = 3. / 4, maxRatio = 4. / 3; ///< width / height
  /// In evaluation, the box is in the middle and has the ratio of the result;
  /// its longer side is this share of the longest that fits.
  double center = 1;
};
Tensor randomResizedCrop(const Operand &images, const RandomResizedCrop &crop);

//===----------------------------------------------------------------------===//
// Values of pixels
//===----------------------------------------------------------------------===//

/// Factors of images, [batch], as torchvision's adjust_brightness and the
/// others have them. One that is left out changes nothing. In evaluation too.
struct ColorFactors {
  Tensor brightness = {}, contrast = {}, saturation = {};
  Tensor hue = {}; ///< part of a circle
};
/// Blends with black, with the mean of the grey image, and with the grey image,
/// and turns the hue of HSV: in this order, and rounded once. Grey images have
/// neither saturation nor hue.
Tensor adjustColors(const Operand &images, const ColorFactors &factors);

/// torchvision's ColorJitter, always in the order of adjustColors.
struct ColorJitter {
  /// A factor from max(0, 1 - x) to 1 + x for each image.
  double brightness = 0, contrast = 0, saturation = 0;
  double hue = 0; ///< a turn from -x to x, at most 0.5, which is half a circle
};
Tensor colorJitter(const Operand &images, const ColorJitter &jitter);

/// (x - mean) / deviation in f32, where x is from 0 to 1: one number for all
/// channels, or one for each. In evaluation too.
Tensor normalizeImages(const Operand &images, const std::vector<double> &mean,
                       const std::vector<double> &deviation);

//===----------------------------------------------------------------------===//
// Samples mixed with others
//===----------------------------------------------------------------------===//

/// Mixup (Zhang, Cisse, Dauphin and Lopez-Paz, "mixup: Beyond Empirical Risk
/// Minimization", 2018) and CutMix (Yun et al., "CutMix: Regularization
/// Strategy to Train Strong Classifiers with Localizable Features", 2019). Each
/// sample is mixed with the one that stands in its place when the batch is
/// reversed; a batch has one share, and one box.
struct Mix {
  double mixup = 0, cutmix = 0; ///< alpha of Beta(alpha, alpha); 0: it is off
  double switching = 0.5;       ///< the probability of cutmix where both are on
};
struct MixedSamples {
  Tensor images;
  Tensor labels, others; ///< of the samples, and of those mixed in
  Tensor share;          ///< of `labels`, in f32

  /// share * crossEntropy(logits, labels) + (1 - share) * crossEntropy(logits,
  /// others); the former alone in evaluation.
  Tensor loss(const Operand &logits,
              const CrossEntropyOptions &options = {}) const;
};
/// `labels` are numbers of classes, [batch].
MixedSamples mixSamples(const Operand &images, const Operand &labels,
                        const Mix &mix);

/// A random number from Beta(alpha, alpha), f32. Exact for every alpha, from
/// two uniform numbers (Devroye, "Random variate generation in one line of
/// code", 1996).
Tensor symmetricBeta(const Context &context, double alpha,
                     const Dims &shape = {});

} // namespace mantissa

#endif // MANTISSA_DSL_AUGMENTATION_H
