//===- MetricsWriter.h - metrics.jsonl of a run -----------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_METRICSWRITER_H
#define MP_RUNTIME_TRAIN_METRICSWRITER_H

#include "runtime/train/ProgressObserver.h"
#include "runtime/train/TrainingRun.h"
#include <chrono>

namespace mp {

/// Adds a line for each step and flushes about once a second. A full disk does
/// not end the run: the lines are written when there is room again, and if
/// there is none until the end, that is an error then. A pipe that nobody reads
/// any more gets no more lines, which is a note.
class MetricsWriter : public TrainingObserver {
public:
  MetricsWriter(const TrainingRun &run, ProgressObserver &progress)
      : run(run), progress(progress) {}

  /// Removes the lines of steps that are run again.
  llvm::Error open();
  llvm::Error begin() override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// Flushes the lines of all steps so far. Warns if that fails.
  void flush();
  llvm::Error runEnded(const TrainOutcome &outcome) override;

private:
  using Clock = std::chrono::steady_clock;
  void say(const llvm::Twine &text);

  const TrainingRun &run;
  ProgressObserver &progress;
  bool hasWarned = false;
  std::optional<MetricsFile> file; ///< none if the run writes no folder
  Clock::time_point flushed = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_METRICSWRITER_H
