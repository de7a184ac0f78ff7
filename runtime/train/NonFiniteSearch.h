//===- NonFiniteSearch.h - where a run's steps stop being finite ----------===//
#ifndef MP_RUNTIME_TRAIN_NONFINITESEARCH_H
#define MP_RUNTIME_TRAIN_NONFINITESEARCH_H

#include "runtime/train/StepReplay.h"
#include "runtime/train/TrainingStep.h"

namespace mp {

/// Reads the records of each step, if `nanCheck` is set, and finds the
/// non-finite origin (StepMetrics::nonFinite). A step that makes the state
/// non-finite ends the run.
class NonFiniteSearch : public StepInspector {
public:
  explicit NonFiniteSearch(TrainingRun &run) : run(run) {}

  llvm::Error microBatch(Executable &executable, Executable::Ticket ticket,
                         int64_t step, int64_t micro) override;
  llvm::Error finished(const StepResults &step, StepMetrics &metrics) override;

  /// Searches a step again, which must start from the state before it.
  llvm::Error lookFromBefore(StepMetrics &metrics);
  /// Implements Trainer::explainSkip.
  llvm::Expected<std::string> explain();

  /// Returns whether every op has a record, rather than only the values that
  /// kernels store.
  bool seesEveryOp() const { return run.options.nanCheck == "all"; }
  /// Returns whether a step has made the state non-finite since the last call.
  bool takeBrokenState() { return std::exchange(stateIsBroken, false); }
  /// Returns the last origin that was found.
  const std::optional<NonFiniteOrigin> &origin() const { return found; }
  /// Returns the values of the last step, or of the last step with an origin.
  /// Empty unless every op has a record.
  llvm::ArrayRef<ValueRange> values() const { return stepValues; }
  int64_t valuesStep() const { return stepOfValues; }

private:
  void note(NonFiniteOrigin origin, StepMetrics &metrics);

  TrainingRun &run;
  std::optional<NonFiniteOrigin> found;
  bool stateIsBroken = false;
  /// Origin and values of the micro-batches in flight: of the first with an
  /// origin, or else of the last.
  std::optional<NonFiniteOrigin> gathered;
  std::vector<ValueRange> gatheredValues;
  std::vector<ValueRange> stepValues;
  int64_t stepOfValues = 0;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_NONFINITESEARCH_H
