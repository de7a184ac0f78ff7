//===- TrainingRun.h - the facts of a training run --------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGRUN_H
#define MP_RUNTIME_TRAIN_TRAININGRUN_H

#include "runtime/Model.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/TrainOptions.h"
#include "support/FolderLock.h"

namespace mp {

class Interrupt;

/// The data that the steps, the observers and the set-up of a run share.
struct TrainingRun {
  TrainOptions options;
  std::shared_ptr<Trace> trace;           ///< null if the options ask for none
  std::map<int64_t, std::string> modules; ///< of buckets, by their lengths
  std::unique_ptr<Model> model;
  std::optional<Dataset> trainData, testData;
  ColumnBinding binding; ///< which columns of `trainData` feed a step
  BatchPlan plan;
  RunState state;
  std::string scaler;       ///< name of the loss scaler in use
  std::string scalerFields; ///< as in Program, of that scaler
  std::string casts;        ///< from CompileOptions::onCasts for a whole batch
  double compileSeconds = 0;
  double dataWaitSeconds = 0; ///< as in Summary
  bool hasSaved =
      false; ///< whether the checkpoint in the run folder is of this run
  std::string gaveUp; ///< why the run ends early; empty if it does not
  /// Why the run has trained enough before its last step; empty if it has not.
  std::string stopped;
  /// Why no more batches can be read; empty if they can. The state is that of
  /// the last step whose batches were as they were when the data was opened.
  std::string dataProblem;
  const Interrupt *interrupt = nullptr; ///< while train() runs
  /// The signal by which several ranks end together; 0: they go on.
  int agreedSignal = 0;
  std::optional<FolderLock> lock; ///< of the run folder

  Session &session() const { return model->session(); }
  /// Return this process's number among the ranks of the run, and theirs.
  int64_t rank() const { return options.ranks ? options.ranks->rank() : 0; }
  int64_t ranks() const { return options.ranks ? options.ranks->size() : 1; }
  /// Returns the signal that ends the run, or 0.
  int interruption() const;
  bool isInterrupted() const { return interruption() != 0; }
  bool hasFailed() const { return !gaveUp.empty() || !dataProblem.empty(); }
  /// Returns whether no more steps are to be made.
  bool isEnding() const {
    return isInterrupted() || hasFailed() || !stopped.empty();
  }
  /// Returns the error of `dataProblem`, if there is one.
  llvm::Error dataError() const;
  /// Returns the error, preceded by that of a data file that has changed
  /// meanwhile, which may be its cause.
  llvm::Error explain(llvm::Error error) const;
  /// Logs which data files others have replaced.
  void noteReplacedFiles() const;
  /// Returns the length of the schedule: all step attempts of the run.
  int64_t totalSteps() const { return state.epochs * plan.stepsPerEpoch(); }
  /// Returns the last step, which `maxSteps` may limit.
  int64_t lastStep() const;
  /// Returns how many steps lie between two checkpoints.
  int64_t checkpointEvery() const;
  /// Returns the options by which the batches of steps [first, last) are read.
  PrefetchOptions batches(int64_t first, int64_t last) const;

  /// Return whether the run has a folder, and whether this rank writes to it.
  bool saves() const { return !options.out.empty(); }
  bool writes() const { return saves() && rank() == 0; }
  std::string path(llvm::StringRef name) const; ///< in the run folder
  llvm::Error write(llvm::StringRef name, llvm::StringRef text) const;
  /// Creates the run folder, keeps other runs out of it, and writes the files
  /// that are known before the first step.
  llvm::Error makeFolder();

  /// Returns the summary without the scores on the data source `test`.
  Summary summarize(double trainSeconds) const;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGRUN_H
