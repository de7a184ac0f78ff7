//===- TrainingObserver.h - interface for what accompanies training -------===//
#ifndef MP_RUNTIME_TRAIN_TRAININGOBSERVER_H
#define MP_RUNTIME_TRAIN_TRAININGOBSERVER_H

#include "runtime/train/TrainOptions.h"
#include <limits>

namespace mp {

/// An observer is called between the steps of a run. Each has one purpose, and
/// none changes the options of another.
class TrainingObserver {
public:
  virtual ~TrainingObserver() = default;
  /// Called before the first step is submitted.
  virtual llvm::Error begin() { return llvm::Error::success(); }
  /// Returns the next number of finished steps at which the observer needs the
  /// state. No step is in flight then.
  virtual int64_t nextPause() const { return never; }
  /// Called after each step. Later observers see what this one adds to the
  /// metrics. If an earlier observer has restored an earlier state,
  /// TrainingRun::state is before this step.
  virtual llvm::Error stepFinished(StepMetrics &metrics) {
    return llvm::Error::success();
  }
  /// Called after the last step, which may be early because of a signal or
  /// because the run was given up.
  virtual llvm::Error stepsEnded(bool interrupted) {
    return llvm::Error::success();
  }
  /// Called at the end of the run, when its summary has been written.
  virtual llvm::Error runEnded(const TrainOutcome &outcome) {
    return llvm::Error::success();
  }

protected:
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  /// Returns the first multiple of `period` after `step`.
  static int64_t nextMultiple(int64_t step, int64_t period) {
    return (step / period + 1) * period;
  }
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGOBSERVER_H
