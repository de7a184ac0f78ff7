//===- Torchrun.h - the variables of torchrun -------------------*- C++ -*-===//
#ifndef MP_RUNTIME_RANKS_TORCHRUN_H
#define MP_RUNTIME_RANKS_TORCHRUN_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mp {

/// What torchrun, or whoever sets its variables, says of a rank.
struct TorchrunRank {
  int64_t rank = 0, size = 1; ///< RANK, WORLD_SIZE
  /// "host:port", where the ranks meet: MASTER_ADDR, and the port after
  /// MASTER_PORT, on which torchrun itself listens (the one before it, if there
  /// is none after it). Empty if `size` is 1.
  std::string address;
};

/// Reads the variables of the environment; nothing if neither RANK nor
/// WORLD_SIZE is set. LOCAL_RANK, which chooses the device (Device.h), is
/// checked too, and may be missing. Errors name the variable: it is missing, no
/// number, or out of its range.
llvm::Expected<std::optional<TorchrunRank>> readTorchrun();

/// Whether torchrun itself has started this process, rather than the variables
/// being set by hand or by a cluster.
bool isStartedByTorchrun();

} // namespace mp

#endif // MP_RUNTIME_RANKS_TORCHRUN_H
