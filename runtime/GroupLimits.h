//===- GroupLimits.h - limits of the control groups of a process ----------===//
#ifndef MP_RUNTIME_GROUPLIMITS_H
#define MP_RUNTIME_GROUPLIMITS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mp {

/// The limits that control groups set for this process, as containers and
/// services have them: cgroups(7), of version 2 or 1. The group of the process
/// and all groups around it count.
struct GroupLimits {
  std::optional<uint64_t> memory; ///< bytes
  std::optional<double> cores;    ///< seconds of CPU time in a second

  /// Reads the limits. `root` stands before the paths of /proc and /sys.
  static GroupLimits read(llvm::StringRef root = "");
};

} // namespace mp

#endif // MP_RUNTIME_GROUPLIMITS_H
