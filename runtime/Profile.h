//===- Profile.h - what the steps of an entry point cost ------------------===//
#ifndef MP_RUNTIME_PROFILE_H
#define MP_RUNTIME_PROFILE_H

#include "runtime/Session.h"
#include <chrono>

namespace mp {

struct StepCost {
  std::string kernel;      ///< symbol, or the name of a routine, or "copy"
  std::string summary;     ///< Kernel::summary, or as `kernel`
  double microseconds = 0; ///< median
  uint64_t bytes = 0;      ///< planned traffic: Launch::bytes
  uint64_t flops = 0;      ///< Launch::flops
  std::vector<Location> sources = {}; ///< Kernel::sources
};

struct Profile {
  /// The speed of a copy in the memory of the device, in 1e9 bytes read and
  /// written a second.
  double copyGbps = 0;
  uint64_t graphNodes =
      0; ///< nodes of the graph of a run; on the CPU its steps
  double hostMicroseconds = 0; ///< of Executable::submit, median
  std::vector<StepCost> launches = {};
};

/// Runs Executable::profile and restores every variable afterwards, also on an
/// error. Errors: the device failed, or has no memory for the copy.
llvm::Expected<Profile> profileKeepingState(Session &session,
                                            Executable &executable,
                                            Executable::Inputs inputs);

/// Runs profileKeepingState on a whole step: on `step`, or with micro-batches
/// on `gather` for one of them and on `step`.
llvm::Expected<Profile> profileStep(Session &session, Executable *gather,
                                    Executable &step,
                                    Executable::Inputs inputs);

//===----------------------------------------------------------------------===//
// For executables
//===----------------------------------------------------------------------===//

/// The number of runs over which a median is taken.
inline constexpr unsigned kProfileRuns = 25;

/// Decides how often something is measured on the CPU: kProfileRuns times, or
/// less often if it takes long.
class ProfileRuns {
public:
  /// Whether to measure once more: five times, and then for two seconds.
  bool next();

private:
  std::chrono::steady_clock::time_point began;
  unsigned done = 0;
};

/// The names of a cost.
struct KernelName {
  std::string symbol, summary;
  std::vector<Location> sources;
};
std::vector<KernelName> kernelNames(const Program &program);

double median(std::vector<double> values);
/// Returns the median of each step, whose times are `microseconds[step]`.
std::vector<StepCost> costsOf(const Entry &entry,
                              llvm::ArrayRef<KernelName> names,
                              std::vector<std::vector<double>> microseconds);
/// Measures Profile::hostMicroseconds in consecutive runs.
llvm::Expected<double> timeSubmits(Executable &executable,
                                   Executable::Inputs inputs);
/// Returns the bytes to copy if `free` bytes of memory are left.
uint64_t profiledCopyBytes(uint64_t free);
/// Profile::copyGbps
inline double copyRate(uint64_t bytes, double microseconds) {
  return microseconds > 0 ? 2.0 * bytes / microseconds / 1e3 : 0;
}

} // namespace mp

#endif // MP_RUNTIME_PROFILE_H
