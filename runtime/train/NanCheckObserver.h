//===- NanCheckObserver.h - tells where steps stop being finite -*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
#define MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/ProgressObserver.h"

namespace mp {

/// Tells on the screen and in non-finite.jsonl what NonFiniteSearch finds, and
/// writes values.json. After a step that broke the state, runs again from the
/// last state that was saved, or from the beginning, up to before that step.
class NanCheckObserver : public TrainingObserver {
public:
  NanCheckObserver(TrainingRun &run, NonFiniteSearch &search,
                   TrainingStep &steps, ProgressObserver &progress)
      : run(run), search(search), steps(steps), progress(progress) {}

  /// Cuts off the lines of steps that are run again; an earlier run's too,
  /// where nothing is looked at.
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
  int64_t told = 0; ///< origins, on the screen
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_NANCHECKOBSERVER_H
