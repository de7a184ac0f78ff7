//===- StepProgram.h - the entry points of a recipe's step ----------------===//
#ifndef MP_RUNTIME_TRAIN_STEPPROGRAM_H
#define MP_RUNTIME_TRAIN_STEPPROGRAM_H

#include "runtime/Model.h"

namespace mp {

/// The entry points of a step, and the indices of its results.
struct StepProgram {
  Executable *last = nullptr; ///< the step, or `apply` of micro-batches
  Executable *gather =
      nullptr; ///< accumulates a micro-batch, if a step has several
  int64_t microBatches = 1;
  /// Scalar results of `last`, if it has them.
  std::optional<unsigned> loss, scale, skipped, exhausted, learningRate,
      gradientNorm;
  /// The other scalar results, without records.
  std::vector<unsigned> others;

  Executable &takesInputs() const { return gather ? *gather : *last; }
  /// Runs the whole step on inputs whose ranges are known to be right.
  llvm::Expected<Executable::Ticket> submit(Executable::Inputs inputs) const;
};

/// Compiles the recipe's step for a micro-batch of `rows` samples if needed.
llvm::Expected<StepProgram> findStep(Model &model, int64_t rows);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPPROGRAM_H
