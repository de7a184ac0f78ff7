//===- MetricsWriter.h - metrics.jsonl of a run -----------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_METRICSWRITER_H
#define MP_RUNTIME_TRAIN_METRICSWRITER_H

#include "runtime/train/RunLog.h"
#include "runtime/train/TrainingObserver.h"
#include <chrono>

namespace mp {

/// Adds a line for each step and flushes about once a second.
class MetricsWriter : public TrainingObserver {
public:
  MetricsWriter(const TrainingRun &run, ProgressObserver &progress)
      : lines(run, progress, "metrics.jsonl") {}

  /// Removes the lines of steps that are run again.
  llvm::Error open() { return lines.open(); }
  llvm::Error begin() override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// Flushes the lines of all steps so far. Warns if that fails.
  void flush();
  llvm::Error runEnded(const TrainOutcome &) override { return lines.finish(); }

private:
  using Clock = std::chrono::steady_clock;

  RunLog lines;
  Clock::time_point flushed = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_METRICSWRITER_H
