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
  /// Speed of a copy in the device's memory: bytes read and written, in 1e9 a
  /// second.
  double copyGbps = 0;
  uint64_t graphNodes = 0;     ///< of one run; on the CPU its steps
  double hostMicroseconds = 0; ///< of Executable::submit, median
  std::vector<StepCost> launches = {};
};

/// Executable::profile; every variable has its bits again afterwards, on an
/// error too. Errors: the device failed, or has no memory for the copy.
llvm::Expected<Profile> profileKeepingState(Session &session,
                                            Executable &executable,
                                            Executable::Inputs inputs);

/// As profileKeepingState, of a whole step: of `step`, or where that applies
/// micro-batches, of the one that `gather` takes and of `step` together.
llvm::Expected<Profile> profileStep(Session &session, Executable *gather,
                                    Executable &step,
                                    Executable::Inputs inputs);

//===----------------------------------------------------------------------===//
// For executables
//===----------------------------------------------------------------------===//

/// How often each thing is measured.
inline constexpr unsigned kProfileRuns = 25;

/// What a cost is called by.
struct KernelName {
  std::string symbol, summary;
  std::vector<Location> sources;
};
std::vector<KernelName> kernelNames(const Program &program);

double median(std::vector<double> values);
/// The median of each step; `microseconds[step]` are its times.
std::vector<StepCost> costsOf(const Entry &entry,
                              llvm::ArrayRef<KernelName> names,
                              std::vector<std::vector<double>> microseconds);
/// Profile::hostMicroseconds, from runs one after the other.
llvm::Expected<double> timeSubmits(Executable &executable,
                                   Executable::Inputs inputs);
/// How much to copy, where `free` bytes of memory are left.
uint64_t profiledCopyBytes(uint64_t free);
/// Profile::copyGbps
inline double copyRate(uint64_t bytes, double microseconds) {
  return microseconds > 0 ? 2.0 * bytes / microseconds / 1e3 : 0;
}

} // namespace mp

#endif // MP_RUNTIME_PROFILE_H
