//===- TrainingLoop.h - runs the steps and notifies observers -------------===//
#ifndef MP_RUNTIME_TRAIN_TRAININGLOOP_H
#define MP_RUNTIME_TRAIN_TRAININGLOOP_H

#include "runtime/train/TrainingObserver.h"
#include "runtime/train/TrainingStep.h"

namespace mp {

/// Runs the remaining steps until the last one, until a signal, or until the
/// run is given up. Observers are called in their order in the list.
class TrainingLoop {
public:
  TrainingLoop(TrainingRun &run, TrainingStep &steps,
               llvm::ArrayRef<TrainingObserver *> observers)
      : run(run), steps(steps), observers(observers) {}

  /// Runs the steps. Returns the signal that ended them, or 0.
  llvm::Expected<int> runSteps();
  /// Returns the seconds spent in steps, without the observers.
  double seconds() const { return secondsInSteps; }

private:
  llvm::Error agreeWithRanks();
  llvm::Error submitSteps();
  llvm::Expected<bool> runStep();

  TrainingRun &run;
  TrainingStep &steps;
  llvm::ArrayRef<TrainingObserver *> observers;
  double secondsInSteps = 0;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGLOOP_H
