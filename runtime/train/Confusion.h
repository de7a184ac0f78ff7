//===- Confusion.h - which classes a classifier takes for which -*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CONFUSION_H
#define MP_RUNTIME_TRAIN_CONFUSION_H

#include "runtime/Session.h"
#include <map>

namespace mp {

/// Counts what a classifier predicts for the samples of each class, and keeps
/// the wrong predictions that it is most sure of.
class Confusion {
public:
  /// Returns one for an entry point that takes the class of each sample and
  /// returns logits of [batch, classes]: the result `logits`, or else the only
  /// one of that shape. Nothing for other entry points.
  static std::optional<Confusion> of(const Entry &entry);

  /// Counts the first rows of a batch, which are these samples of the data
  /// set. A sample whose label is no class is not counted.
  void add(Executable::Inputs inputs, Executable::Results results,
           llvm::ArrayRef<int64_t> samples);

  /// Returns the counts and mistakes for `merge`.
  std::string bytes() const;
  /// Adds those of another part of the data, which comes after this one. They
  /// have the form of `bytes`.
  void merge(llvm::StringRef bytes);

  /// Returns the mean over classes of the harmonic mean of precision and
  /// recall, 2 TP / (2 TP + FP + FN), as scikit-learn's `macro`: a class that
  /// was neither a label nor predicted does not count. NaN if nothing was
  /// counted.
  double macroF1() const;

  /// Returns {"step": .., "classes": [names, or none], "counts": [a row of
  /// predictions for each label], "mistakes": [{"sample": .., "label": ..,
  /// "predicted": .., "probability": .., "png": in base64, of images of bytes},
  /// the surest first]}. With more than `mostCounted` classes there is
  /// "confused" instead of counts: the pairs of label and prediction that
  /// occurred most often, as [label, predicted, number].
  std::string json(int64_t step, llvm::ArrayRef<std::string> classes) const;

  static constexpr size_t mostMistakes = 24;
  static constexpr int64_t mostCounted = 100;

private:
  struct Mistake {
    int64_t sample, label, predicted;
    double probability;
    std::string png;
  };

  void addMistake(Mistake mistake, const char *image);

  unsigned labels = 0, logits = 0;             ///< indices of input and result
  std::optional<unsigned> images;              ///< index of an input of bytes
  int64_t height = 0, width = 0, channels = 0; ///< of an image
  ElementType labelElement = {}, logitElement = {};
  int64_t classes = 0;
  /// Of (label, predicted), where not zero: no more than there are samples,
  /// however many classes.
  std::map<std::pair<int64_t, int64_t>, uint64_t> counts;
  std::vector<Mistake> mistakes; ///< the surest first
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CONFUSION_H
