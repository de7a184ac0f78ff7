//===- MetricsWriter.h - metrics.jsonl of a run -----------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_METRICSWRITER_H
#define MP_RUNTIME_TRAIN_METRICSWRITER_H

#include "runtime/train/TrainingObserver.h"
#include "runtime/train/TrainingRun.h"
#include <chrono>

namespace mp {

/// Adds a line for each step, which reaches the disk within about a second.
class MetricsWriter : public TrainingObserver {
public:
  explicit MetricsWriter(const TrainingRun &run) : run(run) {}

  /// Removes the lines of steps that will run again.
  llvm::Error open();
  llvm::Error begin() override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// Writes the lines of all steps so far to the disk.
  llvm::Error flush();

private:
  using Clock = std::chrono::steady_clock;
  const TrainingRun &run;
  std::optional<MetricsFile> file; ///< empty if the run writes no files
  Clock::time_point flushed = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_METRICSWRITER_H
