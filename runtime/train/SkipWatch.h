//===- SkipWatch.h - ends a run whose steps are all skipped -----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_SKIPWATCH_H
#define MP_RUNTIME_TRAIN_SKIPWATCH_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/TrainingObserver.h"

namespace mp {

/// Ends a run that cannot recover by itself, and says why.
class SkipWatch : public TrainingObserver {
public:
  SkipWatch(TrainingRun &run, NonFiniteSearch &search)
      : run(run), search(search) {}

  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// Returns an error if the run, which has ended, trained nothing. It says why
  /// and what is not finite.
  llvm::Error judge();

private:
  void judgeSkips();

  TrainingRun &run;
  NonFiniteSearch &search;
  int64_t skippedInRow = 0; ///< number of last steps that changed nothing
  bool hasTrained = false;  ///< whether any step changed something
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_SKIPWATCH_H
