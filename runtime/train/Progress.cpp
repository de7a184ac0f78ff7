//===- Progress.cpp - progress of a run on the screen ---------------------===//
#include "runtime/train/Progress.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp {

static std::string text(const char *pattern, double number) {
  std::string digits;
  raw_string_ostream(digits) << format(pattern, number);
  return digits;
}

std::string scaleText(double scale) {
  bool inFull = scale == std::floor(scale) && scale < 1e15;
  return text(inFull ? "%.0f" : "%g", scale);
}

std::string metricText(double value) {
  bool small = value != 0 && std::abs(value) < 1e-3;
  return text(small ? "%.3e" : "%.4f", value);
}

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
    *os << "\r\x1b[K"; // to the start of the line, which is then cleared
  *os << "epoch " << plan.epoch(done - 1) + 1 << "  step " << done << "/"
      << totalSteps << "  loss " << metricText(metrics.loss) << "  scale "
      << scaleText(metrics.scale) << "  skipped " << skippedSteps
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
