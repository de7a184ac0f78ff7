//===- TrainingObserver.h - what else happens while a run trains ----------===//
#ifndef MP_RUNTIME_TRAIN_TRAININGOBSERVER_H
#define MP_RUNTIME_TRAIN_TRAININGOBSERVER_H

#include "runtime/train/TrainOptions.h"
#include <limits>

namespace mp {

/// An observer is told how a run goes on, between its steps. Each has one
/// concern, and none changes what another was asked for.
class TrainingObserver {
public:
  virtual ~TrainingObserver() = default;
  /// The first step is about to be submitted.
  virtual llvm::Error begin() { return llvm::Error::success(); }
  /// The next count of steps at which it needs the state between two steps, so
  /// that none may overlap that moment.
  virtual int64_t nextPause() const { return never; }
  /// A step has finished. What an observer adds to the metrics, those told
  /// after it find there.
  virtual llvm::Error stepFinished(StepMetrics &metrics) {
    return llvm::Error::success();
  }
  /// No step follows, as all were run, the run gave up, or a signal came.
  virtual llvm::Error stepsEnded(bool interrupted) {
    return llvm::Error::success();
  }
  /// The run is over, and its summary is written.
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
