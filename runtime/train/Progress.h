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

/// Refreshes one line on a terminal. Elsewhere, prints a line every 100 steps
/// and at the end of each epoch. Prints nothing if the stream is null.
class Progress {
public:
  Progress(llvm::raw_ostream *os, const BatchPlan &plan, int64_t totalSteps)
      : os(os), plan(plan), totalSteps(totalSteps),
        terminal(os && os->is_displayed()) {}
  ~Progress() { endLine(); }
  Progress(const Progress &) = delete;

  void step(const StepMetrics &metrics, int64_t skippedSteps);
  /// Ends the refreshed line, so that other text can follow.
  void endLine();

private:
  using Clock = std::chrono::steady_clock;
  llvm::raw_ostream *os;
  BatchPlan plan;
  int64_t totalSteps;
  bool terminal, lineOpen = false;
  Clock::time_point lastShown = {};
  Clock::time_point lastRate = Clock::now();
  int64_t samplesSinceRate = 0;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_PROGRESS_H
