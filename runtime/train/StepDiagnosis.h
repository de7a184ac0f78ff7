//===- StepDiagnosis.h - a step with a record of each op --------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_STEPDIAGNOSIS_H
#define MP_RUNTIME_TRAIN_STEPDIAGNOSIS_H

#include "runtime/Model.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/numerics/NanCheck.h"

namespace mp {

/// Runs a step in a form that changes no state and records every op, and keeps
/// its non-finite origin. The first run compiles this form.
class StepDiagnosis {
public:
  /// `gathers`: the step takes micro-batches. `skippedScale` is set if the step
  /// was the last one and was skipped: the loss scale that it used. State that
  /// every step attempt changes is then set back for the time of a run.
  StepDiagnosis(Model &model, bool gathers, std::optional<double> skippedScale)
      : model(model), gathers(gathers), skippedScale(skippedScale) {}

  /// Runs the step, or one of its micro-batches. Returns whether the origin is
  /// in it, and was not found before.
  llvm::Expected<bool> run(Executable::Inputs inputs, BatchSize size);
  /// Does the same with the next micro-batch of `batches`.
  llvm::Expected<bool> run(Prefetcher &batches, BatchSize size);
  /// Ends the window of micro-batches of this size; needed if `gathers`.
  llvm::Expected<bool> apply(BatchSize size);

  std::optional<NonFiniteOrigin> origin;

private:
  llvm::StringRef micro() const;
  llvm::Expected<bool> run(llvm::StringRef function, Executable::Inputs inputs,
                           BatchSize size);

  Model &model;
  bool gathers;
  std::optional<double> skippedScale;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPDIAGNOSIS_H
