//===- StepProgram.h - the entry points of a recipe's step ----------------===//
#ifndef MP_RUNTIME_TRAIN_STEPPROGRAM_H
#define MP_RUNTIME_TRAIN_STEPPROGRAM_H

#include "runtime/Model.h"

namespace mp {

/// The entry points of a step, and which results tell what.
struct StepProgram {
  Executable *last = nullptr;   ///< the step, or what applies micro-batches
  Executable *gather = nullptr; ///< takes a micro-batch, where there are many
  int64_t microBatches = 1;
  /// Scalar results of `last`, where it has them.
  std::optional<unsigned> loss, scale, skipped, exhausted, learningRate,
      gradientNorm;
  /// Scalar results by other names. Records are not among them.
  std::vector<unsigned> others;

  Executable &takesInputs() const { return gather ? *gather : *last; }
  /// Runs the whole step on inputs that are known to be in range.
  llvm::Expected<Executable::Ticket> submit(Executable::Inputs inputs) const;
};

/// Compiles the recipe's step for a micro-batch of `rows` samples, where that
/// has not happened yet.
llvm::Expected<StepProgram> findStep(Model &model, int64_t rows);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPPROGRAM_H
