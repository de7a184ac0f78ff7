//===- NanCheckObserver.h - reports where steps stop being finite ---------===//
#ifndef MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
#define MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/ProgressObserver.h"

namespace mp {

/// Reports what NonFiniteSearch finds on the log and in non-finite.jsonl, and
/// writes values.json. After a step that made the state non-finite, restores
/// the last saved state, or the initial one, and runs again up to before that
/// step.
class NanCheckObserver : public TrainingObserver {
public:
  NanCheckObserver(TrainingRun &run, NonFiniteSearch &search,
                   TrainingStep &steps, ProgressObserver &progress)
      : run(run), search(search), steps(steps), progress(progress) {}

  /// Removes the lines of steps that are run again. Without `nanCheck`, removes
  /// those of an earlier run.
  llvm::Error open();
  llvm::Error stepFinished(StepMetrics &metrics) override;
  llvm::Error stepsEnded(bool interrupted) override;

private:
  llvm::Error goBack(StepMetrics &metrics);
  llvm::Error tell(const StepMetrics &metrics);

  TrainingRun &run;
  NonFiniteSearch &search;
  TrainingStep &steps;
  ProgressObserver &progress;
  std::optional<MetricsFile> file;
  int64_t told = 0; ///< number of origins on the log
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
