//===- BenchReport.h - results of mp-run bench ----------------------------===//
#ifndef MP_TOOLS_RUN_BENCHREPORT_H
#define MP_TOOLS_RUN_BENCHREPORT_H

#include "runtime/Profile.h"

namespace mp::tool {

struct BenchReport {
  std::string module, device, where, arch, precision, policy;
  std::string arithmetic;              ///< the precision of computation, "bf16"
  int64_t batch = 0, microBatches = 1; ///< samples; micro-batches of a step
  unsigned threads = 0;                ///< workers on the CPU
  uint64_t warmup = 0, plannedBytes = 0;
  double compileSeconds = 0; ///< until the step can run
  CompileCounts kernels;
  std::vector<double> stepMicroseconds; ///< in order
  /// 1e9 operations per second of all cores: fmas in f32, and multiplications
  /// of bf16 operands. 0: not measured.
  double peakF32 = 0, peakBF16 = 0;
  /// The steps whose update the loss scaler skipped.
  uint64_t skippedSteps = 0;
  Profile profile; ///< with micro-batches, of one micro-batch and of the update
};

/// The bound on a kernel's time, and how close the kernel comes to it.
struct Roofline {
  double microseconds = 0; ///< best possible time; 0: not known
  bool byMemory = true;    ///< bound by memory, else by arithmetic
};

/// Returns the time of a copy of the kernel's bytes, or of the arithmetic at
/// peak if that takes longer.
Roofline rooflineOf(const BenchReport &report, const StepCost &cost);

/// Returns the value below which `share` of the values lie.
double quantile(std::vector<double> values, double share);

/// Returns a table for the user; the kernels that took longest come first.
std::string toText(const BenchReport &report, size_t most = 20);
std::string toJson(const BenchReport &report);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_BENCHREPORT_H
