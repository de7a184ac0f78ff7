//===- NanCheckObserver.h - reports where steps stop being finite ---------===//
#ifndef MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
#define MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/ProgressObserver.h"

namespace mp {

/// Reports the findings of NonFiniteSearch on the screen and in
/// offenders.jsonl, and writes values.json. After a step that broke the state,
/// it runs again from the last saved state, or from the beginning, up to before
/// that step.
class NanCheckObserver : public TrainingObserver {
public:
  NanCheckObserver(TrainingRun &run, NonFiniteSearch &search,
                   TrainingStep &steps, ProgressObserver &progress)
      : run(run), search(search), steps(steps), progress(progress) {}

  /// Removes the lines of steps that will run again, and all lines if the run
  /// has no search.
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
  int64_t told = 0; ///< origins reported on the screen
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
