//===- ProgressObserver.h - shows each step to the user ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_PROGRESSOBSERVER_H
#define MP_RUNTIME_TRAIN_PROGRESSOBSERVER_H

#include "runtime/train/Progress.h"
#include "runtime/train/TrainingObserver.h"
#include "runtime/train/TrainingRun.h"

namespace mp {

/// Shows each step on the run's log.
class ProgressObserver : public TrainingObserver {
public:
  explicit ProgressObserver(const TrainingRun &run) : run(run) {}

  llvm::Error begin() override {
    progress.emplace(run.options.log, run.plan, run.state.step, run.lastStep());
    return llvm::Error::success();
  }
  llvm::Error stepFinished(StepMetrics &metrics) override {
    progress->step(metrics, run.state.skippedSteps);
    return llvm::Error::success();
  }
  /// Ends the line that is refreshed, so that other text can follow.
  void endLine() {
    if (progress)
      progress->endLine();
  }

private:
  const TrainingRun &run;
  std::optional<Progress> progress;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_PROGRESSOBSERVER_H
