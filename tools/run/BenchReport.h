//===- BenchReport.h - what mp-run bench found ----------------------------===//
#ifndef MP_TOOLS_RUN_BENCHREPORT_H
#define MP_TOOLS_RUN_BENCHREPORT_H

#include "runtime/Profile.h"

namespace mp::tool {

struct BenchReport {
  std::string module, device, where, arch, precision, policy;
  std::string arithmetic; ///< the precision that is computed in, "bf16"
  int64_t batch = 0, microBatches = 1; ///< records; of them a step
  unsigned threads = 0;                ///< workers on the CPU
  uint64_t warmup = 0, plannedBytes = 0;
  double compileSeconds = 0; ///< until the step could run
  CompileCounts kernels;
  std::vector<double> stepMicroseconds; ///< in order
  /// 1e9 operations a second of all cores: multiply-adds in f32, and what bf16
  /// operands can be multiplied with. 0: not measured.
  double peakF32 = 0, peakBF16 = 0;
  /// Of those, the steps whose update the loss scaler left out.
  uint64_t skippedSteps = 0;
  Profile profile; ///< of micro-batches, of one and of the update
};

/// What holds a kernel back, and how near it comes.
struct Roofline {
  double microseconds = 0; ///< that it would take at best; 0: not known
  bool byMemory = true;    ///< else by arithmetic
};

/// The time that a copy of the kernel's bytes takes, or the arithmetic at peak
/// where that takes longer.
Roofline rooflineOf(const BenchReport &report, const StepCost &cost);

/// The value below which `share` of the values lie.
double quantile(std::vector<double> values, double share);

/// A table for a person; the kernels that took longest come first.
std::string toText(const BenchReport &report, size_t most = 20);
std::string toJson(const BenchReport &report);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_BENCHREPORT_H
