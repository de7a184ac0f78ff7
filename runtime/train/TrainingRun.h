//===- TrainingRun.h - the facts of a training run --------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGRUN_H
#define MP_RUNTIME_TRAIN_TRAININGRUN_H

#include "runtime/Model.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/TrainOptions.h"

namespace mp {

class Interrupt;

/// The facts of a run, which its steps, observers and set up share.
struct TrainingRun {
  TrainOptions options;
  std::shared_ptr<Trace> trace; ///< null if no trace is requested
  std::unique_ptr<Model> model;
  std::optional<Dataset> trainData, testData;
  ColumnBinding binding; ///< which columns of `trainData` feed a step
  BatchPlan plan;
  RunState state;
  std::string scaler;       ///< name of the loss scaler in use
  std::string scalerFields; ///< as in Program, of that scaler
  std::string casts;        ///< from CompileOptions::onCasts for a whole batch
  double compileSeconds = 0;
  bool hasSaved = false; ///< whether the run folder's checkpoint is of this run
  std::string gaveUp;    ///< why the run ends early; empty if it does not
  const Interrupt *interrupt = nullptr; ///< while train() runs

  Session &session() const { return model->session(); }
  bool isInterrupted() const;
  /// Length of the schedule.
  int64_t totalSteps() const { return state.epochs * plan.stepsPerEpoch(); }
  /// The step at which the run ends, which `maxSteps` may bring forward.
  int64_t lastStep() const;
  /// How batches are prefetched for steps [first, last).
  PrefetchOptions batches(int64_t first, int64_t last) const;

  bool writes() const { return !options.out.empty(); }
  std::string path(llvm::StringRef name) const; ///< in the run folder
  llvm::Error write(llvm::StringRef name, llvm::StringRef text) const;
  /// Makes the run folder and writes the facts that precede the first step.
  llvm::Error makeFolder() const;

  /// The summary without the scores on the data source `test`.
  Summary summarize(double trainSeconds) const;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGRUN_H
