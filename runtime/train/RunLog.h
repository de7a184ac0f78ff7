//===- RunLog.h - a file of a run with a line for some steps ----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNLOG_H
#define MP_RUNTIME_TRAIN_RUNLOG_H

#include "runtime/train/ProgressObserver.h"
#include "runtime/train/TrainingRun.h"

namespace mp {

/// A file in the run folder with one JSON object a line, each with a "step". A
/// full disk does not end the run: the lines are written when there is room
/// again, and if there is none until the end, that is an error then. A pipe
/// that nobody reads any more gets no more lines, which is a note.
class RunLog {
public:
  RunLog(const TrainingRun &run, ProgressObserver &progress,
         llvm::StringLiteral name)
      : run(run), progress(progress), name(name) {}

  /// Opens the file and removes the lines of steps that are run again. Without
  /// it, lines are dropped.
  llvm::Error open();
  /// Adds an object whose "step" is `step`.
  void add(int64_t step, llvm::StringRef object);
  /// Returns whether the last line is of that step.
  bool endsWith(int64_t step) const { return file && file->lastStep() == step; }
  /// Writes the lines so far. Warns if that fails.
  void flush();
  /// Writes the lines that could not be written before.
  llvm::Error finish();

private:
  void say(const llvm::Twine &text);

  const TrainingRun &run;
  ProgressObserver &progress;
  llvm::StringLiteral name;
  bool hasWarned = false;
  std::optional<MetricsFile> file;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNLOG_H
