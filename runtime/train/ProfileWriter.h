//===- ProfileWriter.h - what a step costs, after a run ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_PROFILEWRITER_H
#define MP_RUNTIME_TRAIN_PROFILEWRITER_H

#include "runtime/train/TrainingObserver.h"
#include "runtime/train/TrainingStep.h"

namespace mp {

/// Writes the profile that the options request, unless a signal ended the run.
class ProfileWriter : public TrainingObserver {
public:
  ProfileWriter(const TrainingRun &run, TrainingStep &steps)
      : run(run), steps(steps) {}

  llvm::Error runEnded(const TrainOutcome &outcome) override;

private:
  const TrainingRun &run;
  TrainingStep &steps;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_PROFILEWRITER_H
