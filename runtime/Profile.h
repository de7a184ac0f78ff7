//===- Profile.h - what the steps of an entry point cost ------------------===//
#ifndef MP_RUNTIME_PROFILE_H
#define MP_RUNTIME_PROFILE_H

#include "runtime/Session.h"

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
  /// Speed of a copy in the device's memory, in 1e9 bytes read and written per
  /// second.
  double copyGbps = 0;
  uint64_t graphNodes = 0;     ///< of one run; on the CPU, its steps
  double hostMicroseconds = 0; ///< of Executable::submit, median
  std::vector<StepCost> launches = {};
};

/// Executable::profile, after which every variable has its former bits again,
/// even if it fails. Errors: the device failed, or has no memory for the copy
/// of the variables.
llvm::Expected<Profile> profileKeepingState(Session &session,
                                            Executable &executable,
                                            Executable::Inputs inputs);

/// Like profileKeepingState, for a whole step: `step` alone or, if it applies
/// micro-batches, one micro-batch of `gather` and `step` together.
llvm::Expected<Profile> profileStep(Session &session, Executable *gather,
                                    Executable &step,
                                    Executable::Inputs inputs);

//===----------------------------------------------------------------------===//
// For executables
//===----------------------------------------------------------------------===//

/// How often each thing is measured.
inline constexpr unsigned kProfileRuns = 25;

/// The name of a cost in a profile.
struct KernelName {
  std::string symbol, summary;
  std::vector<Location> sources;
};
std::vector<KernelName> kernelNames(const Program &program);

double median(std::vector<double> values);
/// The median cost of each step; `microseconds[step]` are its times.
std::vector<StepCost> costsOf(const Entry &entry,
                              llvm::ArrayRef<KernelName> names,
                              std::vector<std::vector<double>> microseconds);
/// Measures Profile::hostMicroseconds by runs that do not overlap.
llvm::Expected<double> timeSubmits(Executable &executable,
                                   Executable::Inputs inputs);
/// How many bytes to copy if `free` bytes of memory are left.
uint64_t profiledCopyBytes(uint64_t free);
/// Profile::copyGbps
inline double copyRate(uint64_t bytes, double microseconds) {
  return microseconds > 0 ? 2.0 * bytes / microseconds / 1e3 : 0;
}

} // namespace mp

#endif // MP_RUNTIME_PROFILE_H
