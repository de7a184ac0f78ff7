//===- SkipWatch.h - ends a run whose steps are all skipped -----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_SKIPWATCH_H
#define MP_RUNTIME_TRAIN_SKIPWATCH_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/TrainingObserver.h"

namespace mp {

/// Gives up a run that will not recover by itself, and says why.
class SkipWatch : public TrainingObserver {
public:
  SkipWatch(TrainingRun &run, NonFiniteSearch &search)
      : run(run), search(search) {}

  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// After the run: an error that says why it is useless and what is not finite
  /// in it, or success if it is useful or may become so.
  llvm::Error judge();

private:
  void judgeSkips();

  TrainingRun &run;
  NonFiniteSearch &search;
  int64_t skippedInRow = 0; ///< latest consecutive steps that changed nothing
  bool hasTrained = false;  ///< whether any step changed something
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_SKIPWATCH_H
