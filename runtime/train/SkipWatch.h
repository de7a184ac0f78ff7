//===- SkipWatch.h - ends a run whose steps are all skipped -----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_SKIPWATCH_H
#define MP_RUNTIME_TRAIN_SKIPWATCH_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/TrainingObserver.h"

namespace mp {

/// Gives a run up that will not recover by itself, and says why.
class SkipWatch : public TrainingObserver {
public:
  SkipWatch(TrainingRun &run, NonFiniteSearch &search)
      : run(run), search(search) {}

  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// Why the run that has ended is of no use, and what is not finite in it;
  /// success where it is of use, or may become so.
  llvm::Error judge();

private:
  void judgeSkips();

  TrainingRun &run;
  NonFiniteSearch &search;
  int64_t skippedInRow = 0; ///< steps that changed nothing, up to the last
  bool hasTrained = false;  ///< whether any step changed something
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_SKIPWATCH_H
