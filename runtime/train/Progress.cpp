//===- Progress.cpp - progress of a run on the screen ---------------------===//
#include "runtime/train/Progress.h"
#include "support/Error.h"
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
  if (std::isnan(value))
    return "nan"; // without its sign, which says nothing
  bool small = value != 0 && std::abs(value) < 1e-3;
  return text(small ? "%.3e" : "%.4f", value);
}

std::string clockText(double seconds) {
  auto all = static_cast<int64_t>(std::min(std::max(seconds, 0.0), 1e12));
  int64_t hours = all / 3600, minutes = all / 60 % 60;
  std::string text;
  raw_string_ostream os(text);
  if (hours)
    os << hours << format(":%02d", static_cast<int>(minutes));
  else
    os << minutes;
  os << format(":%02d", static_cast<int>(all % 60));
  return text;
}

static double secondsBetween(std::chrono::steady_clock::time_point from,
                             std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void Progress::step(const StepMetrics &metrics, int64_t skippedSteps) {
  if (!os)
    return;
  int64_t done = metrics.step;
  samples += plan.rows(done - 1);
  dataWait += metrics.dataWaitSeconds;
  bool epochEnd = done % plan.stepsPerEpoch() == 0 || done == lastStep;
  bool due = terminal ? secondsBetween(lastShown, Clock::now()) > 0.1
                      : done % 100 == 0;
  if (!due && !epochEnd)
    return;
  show(metrics, skippedSteps);
  lineOpen = terminal;
  if (!terminal || epochEnd)
    *os << "\n";
  if (epochEnd)
    lineOpen = false;
  os->flush();
}

void Progress::show(const StepMetrics &metrics, int64_t skippedSteps) {
  if (terminal)
    *os << "\r\x1b[K"; // to the start of the line, which is then cleared
  *os << "epoch " << plan.epoch(metrics.step - 1) + 1 << "  ";
  if (terminal)
    showBar(metrics.step);
  *os << "step " << metrics.step << "/" << lastStep << "  loss "
      << metricText(metrics.loss);
  // The others are losses of several heads, norms and more; metrics.jsonl has
  // them.
  for (const auto &[name, value] : metrics.others)
    if (StringRef(name).starts_with("accuracy") ||
        StringRef(name).starts_with("top"))
      *os << "  " << withoutControls(name) << " " << metricText(value);
  *os << "  scale " << scaleText(metrics.scale) << "  skipped " << skippedSteps;
  showSpeed(metrics.step);
}

/// A bar of the epoch: "[=====>    ]".
void Progress::showBar(int64_t step) {
  constexpr int64_t width = 20;
  int64_t filled =
      width * (plan.indexInEpoch(step - 1) + 1) / plan.stepsPerEpoch();
  *os << "[" << std::string(filled, '=') << (filled < width ? ">" : "")
      << std::string(std::max<int64_t>(width - filled - 1, 0), ' ') << "] ";
}

/// Samples a second since the line before, whether these were late, and the
/// time that is left at the mean speed of the run, evaluations included.
void Progress::showSpeed(int64_t step) {
  Clock::time_point now = Clock::now();
  double seconds = secondsBetween(lastShown, now);
  *os << format("  %.0f samples/s", seconds > 0 ? samples / seconds : 0);
  if (dataWait > 0.05 * seconds)
    *os << format(" (%.0f%% of the time waiting for data)",
                  100 * dataWait / seconds);
  if (step > firstStep && step < lastStep)
    *os << "  ETA "
        << clockText(secondsBetween(begin, now) / (step - firstStep) *
                     (lastStep - step));
  lastShown = now;
  samples = 0;
  dataWait = 0;
}

void Progress::endLine() {
  if (lineOpen)
    *os << "\n";
  lineOpen = false;
}

} // namespace mp
