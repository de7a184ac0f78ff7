//===- NanCheckObserver.h - reports where steps stop being finite ---------===//
#ifndef MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
#define MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H

#include "runtime/numerics/FiniteState.h"
#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/ProgressObserver.h"

namespace mp {

/// Reports what NonFiniteSearch finds on the log and in non-finite.jsonl, and
/// writes values.json. After a step that made the state non-finite, restores
/// the last saved state, or the initial one, and runs again up to before that
/// step. Without `nanCheck`, it looks at the state itself where it would be
/// saved, and at the end.
class NanCheckObserver : public TrainingObserver {
public:
  NanCheckObserver(TrainingRun &run, NonFiniteSearch &search,
                   TrainingStep &steps, ProgressObserver &progress)
      : run(run), search(search), steps(steps), progress(progress) {}

  /// Removes the lines of steps that are run again. Without `nanCheck`, removes
  /// those of an earlier run.
  llvm::Error open();
  llvm::Error begin() override;
  int64_t nextPause() const override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  llvm::Error stepsEnded(bool interrupted) override;

private:
  llvm::Error checkState();
  llvm::Expected<int64_t> findBrokenStep(int64_t last);
  llvm::Error restoreSaved(int64_t from);
  llvm::Error goBack(StepMetrics &metrics);
  llvm::Error tell(const StepMetrics &metrics);

  TrainingRun &run;
  NonFiniteSearch &search;
  TrainingStep &steps;
  ProgressObserver &progress;
  FiniteState state;
  int64_t checked = 0; ///< the step whose state was looked at
  std::optional<MetricsFile> file;
  int64_t told = 0; ///< number of origins on the log
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
