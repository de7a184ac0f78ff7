//===- CheckpointWriter.h - checkpoint.safetensors of a run -----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTWRITER_H
#define MP_RUNTIME_TRAIN_CHECKPOINTWRITER_H

#include "runtime/train/CheckpointNames.h"
#include "runtime/train/MetricsWriter.h"

namespace mp {

/// Saves the run every `checkpointEvery` steps, after the best evaluation and
/// at its end.
class CheckpointWriter : public TrainingObserver {
public:
  CheckpointWriter(TrainingRun &run, MetricsWriter &metrics)
      : run(run), metrics(metrics) {}

  llvm::Error begin() override;
  int64_t nextPause() const override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  llvm::Error stepsEnded(bool interrupted) override;

private:
  llvm::Error save();
  llvm::Error give(const std::string &path);
  llvm::Error saveBest();
  llvm::Error saveKeepingPrevious();
  llvm::Error saveKeepingEarlier();
  llvm::Error keepLast();
  bool isKnown() const;
  std::string path() const { return run.path(kNewestCheckpoint); }

  TrainingRun &run;
  MetricsWriter &metrics;
  bool replaces = false; ///< whether the next save is the first of a new run
  /// The step that needs no save, because it was saved or the run began there.
  std::optional<int64_t> saved;
  int64_t best = 0; ///< step of the checkpoint of the best evaluation
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTWRITER_H
