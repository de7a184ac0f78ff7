//===- TrainingObserver.h - interface for what accompanies training -------===//
#ifndef MP_RUNTIME_TRAIN_TRAININGOBSERVER_H
#define MP_RUNTIME_TRAIN_TRAININGOBSERVER_H

#include "runtime/train/TrainOptions.h"
#include <limits>

namespace mp {

/// An observer is notified between the steps of a run. Each has one concern,
/// and none changes the effect of another.
class TrainingObserver {
public:
  virtual ~TrainingObserver() = default;
  /// Called before the first step is submitted.
  virtual llvm::Error begin() { return llvm::Error::success(); }
  /// The next count of steps at which it needs the state between two steps; no
  /// step may be under way then.
  virtual int64_t nextPause() const { return never; }
  /// Called after each step. Later observers see what it adds to the metrics.
  virtual llvm::Error stepFinished(StepMetrics &metrics) {
    return llvm::Error::success();
  }
  /// Called after the last step: all were run, the run gave up, or a signal
  /// came.
  virtual llvm::Error stepsEnded(bool interrupted) {
    return llvm::Error::success();
  }
  /// Called after the run, when its summary is written.
  virtual llvm::Error runEnded(const TrainOutcome &outcome) {
    return llvm::Error::success();
  }

protected:
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  /// The first multiple of `period` after `step`.
  static int64_t nextMultiple(int64_t step, int64_t period) {
    return (step / period + 1) * period;
  }
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGOBSERVER_H
