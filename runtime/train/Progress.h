//===- Progress.h - progress of a run on the screen -----------------------===//
#ifndef MP_RUNTIME_TRAIN_PROGRESS_H
#define MP_RUNTIME_TRAIN_PROGRESS_H

#include "runtime/data/Shuffle.h"
#include "runtime/train/Metrics.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <string>

namespace mp {

/// Formats a loss scale: "137438953472" rather than "1.37439e+11".
std::string scaleText(double scale);
/// Formats a loss or a metric: "0.5622", "2.979e-08".
std::string metricText(double value);
/// Formats a time that is left: "0:07", "12:31", "3:05:00".
std::string clockText(double seconds);

/// Refreshes one line with a bar on a terminal. Elsewhere, prints a line every
/// 100 steps and at the end of each epoch. Prints nothing if the stream is
/// null.
class Progress {
public:
  /// The run goes on after `firstStep` steps and ends after `lastStep`.
  Progress(llvm::raw_ostream *os, const BatchPlan &plan, int64_t firstStep,
           int64_t lastStep)
      : os(os), plan(plan), firstStep(firstStep), lastStep(lastStep),
        terminal(os && os->is_displayed()) {}
  ~Progress() { endLine(); }
  Progress(const Progress &) = delete;

  void step(const StepMetrics &metrics, int64_t skippedSteps);
  /// Ends the refreshed line, so that other text can follow.
  void endLine();

private:
  using Clock = std::chrono::steady_clock;
  void show(const StepMetrics &metrics, int64_t skippedSteps);
  void showBar(int64_t step);
  void showSpeed(int64_t step);

  llvm::raw_ostream *os;
  BatchPlan plan;
  int64_t firstStep, lastStep;
  bool terminal, lineOpen = false;
  const Clock::time_point begin = Clock::now();
  Clock::time_point lastShown = begin;
  // Since that time:
  int64_t samples = 0;
  double dataWait = 0; ///< seconds
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_PROGRESS_H
