//===- AveragedWeights.h - moving averages in place of weights --*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_AVERAGEDWEIGHTS_H
#define MP_RUNTIME_TRAIN_AVERAGEDWEIGHTS_H

#include "runtime/Session.h"

namespace mp {

/// Puts the moving averages that a recipe's `ema` keeps in the place of the
/// weights of a session for a while, for an evaluation between two steps.
class AveragedWeights {
public:
  explicit AveragedWeights(Session &session);

  /// Returns whether the recipe keeps averages.
  bool any() const { return !weights.empty(); }
  /// Returns whether there are averages. There are none before every optimizer
  /// has applied a step.
  llvm::Expected<bool> exist() const;
  /// Replaces the weights that have an average, and keeps their bytes.
  llvm::Error swapIn();
  /// Puts the weights back, bit for bit.
  llvm::Error swapBack();

private:
  struct Weight {
    const Variable *weight, *average;
    std::vector<char> bytes; ///< of the weight while it is replaced
  };

  Session &session;
  std::vector<Weight> weights;
  std::vector<const Variable *> counts; ///< of steps that were applied
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_AVERAGEDWEIGHTS_H
