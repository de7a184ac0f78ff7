//===- StepProgram.h - the entry points of a recipe's step ----------------===//
#ifndef MP_RUNTIME_TRAIN_STEPPROGRAM_H
#define MP_RUNTIME_TRAIN_STEPPROGRAM_H

#include "runtime/Model.h"

namespace mp {

/// The entry points of a step, and the indices of its named results.
struct StepProgram {
  Executable *last =
      nullptr; ///< the step, or the entry point that applies micro-batches
  Executable *gather =
      nullptr;              ///< takes a micro-batch; null without micro-batches
  int64_t microBatches = 1; // of this rank
  /// The scalar results that `last` has.
  std::optional<unsigned> loss, scale, skipped, exhausted, learningRate,
      gradientNorm;
  /// Scalar results with other names, without records.
  std::vector<unsigned> others;

  Executable &takesInputs() const { return gather ? *gather : *last; }
  /// Runs the whole step on inputs whose ranges are known to be right.
  llvm::Expected<Executable::Ticket> submit(Executable::Inputs inputs) const;
};

/// Returns the step of the recipe for micro-batches of a size, compiled if
/// necessary.
llvm::Expected<StepProgram> findStep(Model &model, BatchSize size);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPPROGRAM_H
