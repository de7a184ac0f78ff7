//===- NonFiniteSearch.h - where a run's steps stop being finite ----------===//
#ifndef MP_RUNTIME_TRAIN_NONFINITESEARCH_H
#define MP_RUNTIME_TRAIN_NONFINITESEARCH_H

#include "runtime/train/StepReplay.h"
#include "runtime/train/TrainingStep.h"

namespace mp {

/// Reads the records of each step, if `nanCheck` asks for any, and finds the
/// non-finite origin: StepMetrics::nonFinite. A step that breaks the state ends
/// the run.
class NonFiniteSearch : public StepInspector {
public:
  explicit NonFiniteSearch(TrainingRun &run) : run(run) {}

  llvm::Error microBatch(Executable &executable, Executable::Ticket ticket,
                         int64_t step, int64_t micro) override;
  llvm::Error finished(const StepResults &step, StepMetrics &metrics) override;

  /// Replays a step from the state before it.
  llvm::Error lookFromBefore(StepMetrics &metrics);
  /// The result of Trainer::explainSkip.
  llvm::Expected<std::string> explain();

  /// Whether every op has a record, rather than only values that kernels store.
  bool seesEveryOp() const { return run.options.nanCheck == "all"; }
  /// Whether a step broke the state since the last call.
  bool takeBrokenState() { return std::exchange(stateIsBroken, false); }
  /// The last origin that was found.
  const std::optional<NonFiniteOrigin> &origin() const { return found; }
  /// If every op has a record: the values of the last step, or of the last step
  /// with an origin.
  llvm::ArrayRef<ValueRange> values() const { return stepValues; }
  int64_t valuesStep() const { return stepOfValues; }

private:
  void note(NonFiniteOrigin origin, StepMetrics &metrics);

  TrainingRun &run;
  std::optional<NonFiniteOrigin> found;
  bool stateIsBroken = false;
  /// Origin and values of the micro-batches of the current step: of the last
  /// one, or of the first with an origin.
  std::optional<NonFiniteOrigin> gathered;
  std::vector<ValueRange> gatheredValues;
  std::vector<ValueRange> stepValues;
  int64_t stepOfValues = 0;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_NONFINITESEARCH_H
