//===- Progress.cpp - what a person sees while a run goes on --------------===//
#include "runtime/Progress.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp {

void Progress::step(const StepMetrics &metrics, int64_t skippedSteps) {
  if (!os)
    return;
  Clock::time_point now = Clock::now();
  int64_t done = metrics.step;
  samplesSinceRate += plan.rows(done - 1);
  bool epochEnd = done % plan.stepsPerEpoch() == 0 || done == totalSteps;
  bool due = terminal ? now - lastShown > std::chrono::milliseconds(100)
                      : done % 100 == 0;
  if (!due && !epochEnd)
    return;
  double seconds = std::chrono::duration<double>(now - lastRate).count();
  double rate = seconds > 0 ? samplesSinceRate / seconds : 0;
  lastShown = lastRate = now;
  samplesSinceRate = 0;
  if (terminal)
    *os << "\r\x1b[K"; // to the start of the line, and clear it
  *os << "epoch " << plan.epoch(done - 1) + 1 << "  step " << done << "/"
      << totalSteps << format("  loss %.4f", metrics.loss)
      << format("  scale %g", metrics.scale) << "  skipped " << skippedSteps
      << format("  %.0f samples/s", rate);
  lineOpen = terminal;
  if (!terminal || epochEnd)
    *os << "\n";
  if (epochEnd)
    lineOpen = false;
  os->flush();
}

void Progress::endLine() {
  if (lineOpen)
    *os << "\n";
  lineOpen = false;
}

} // namespace mp
