//===- TrainingRun.h - what a run trains, on what, and how far --*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGRUN_H
#define MP_RUNTIME_TRAIN_TRAININGRUN_H

#include "runtime/Model.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/TrainOptions.h"

namespace mp {

class Interrupt;

/// The facts of a run, which its steps, its observers and its set up share.
struct TrainingRun {
  TrainOptions options;
  std::shared_ptr<Trace> trace; ///< null: nobody asks
  std::unique_ptr<Model> model;
  std::optional<Dataset> trainData, testData;
  ColumnBinding binding; ///< which columns of `trainData` feed a step
  BatchPlan plan;
  RunState state;
  std::string scaler;       ///< name of the loss scaler in use
  std::string scalerFields; ///< Program's, of that scaler
  std::string casts;        ///< CompileOptions::onCasts of a whole batch's step
  double compileSeconds = 0;
  bool hasSaved = false; ///< the run folder's checkpoint is of this run
  std::string gaveUp;    ///< why the run ends early; empty: it does not
  const Interrupt *interrupt = nullptr; ///< while train() runs

  Session &session() const { return model->session(); }
  bool isInterrupted() const;
  /// Length of the schedule: all step attempts of the run.
  int64_t totalSteps() const { return state.epochs * plan.stepsPerEpoch(); }
  /// The step after which the run is over, which `maxSteps` may bring forward.
  int64_t lastStep() const;
  /// How steps [first, last) are gathered.
  PrefetchOptions batches(int64_t first, int64_t last) const;

  bool writes() const { return !options.out.empty(); }
  std::string path(llvm::StringRef name) const; ///< in the run folder
  llvm::Error write(llvm::StringRef name, llvm::StringRef text) const;
  /// Makes the run folder, with what is known before the first step.
  llvm::Error makeFolder() const;

  /// All but the scores on the data source `test`.
  Summary summarize(double trainSeconds) const;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGRUN_H
