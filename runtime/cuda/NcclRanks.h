//===- NcclRanks.h - ranks that NCCL alone connects -------------*- C++ -*-===//
//
// Where nothing but NCCL connects the processes, what their hosts agree on
// travels through the memory of their devices: all ranks' bytes are gathered,
// and each rank computes its result from them, in the order of ranks. This is
// for what a run exchanges besides its steps: texts, counts, sums of
// evaluations. The tensors of steps go from device to device (DeviceRanks.h).
//
// Both may be under way at once, by two communicators of NCCL, whose kernels
// then wait for other ranks beside each other. They cannot wait in a circle:
// all ranks submit steps and collectives in one order, a collective waits for
// no step, and nothing that a step needs is submitted after a collective has
// begun. What this relies on is that a device has room for the kernels of both.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_NCCLRANKS_H
#define MP_RUNTIME_CUDA_NCCLRANKS_H

#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/RanksOptions.h"

namespace mp {

/// One rank of a group that NCCL connects.
struct NcclRank {
  int64_t rank = 0, size = 1;
  /// A CUDA device by a name of chooseDevice ("cuda", "cuda:1"); each rank has
  /// one of its own.
  std::string device = "cuda";
  /// What createNcclId has returned on one rank, and the program has given to
  /// the others. Empty: NCCL has it of its variable NCCL_COMM_ID.
  std::string id = {};
};

/// An id for a new group, of which rank 0 must be in this process. Errors: NCCL
/// is missing, or fails.
llvm::Expected<std::string> createNcclId();

/// Joins a group; all of its ranks call this at the same time, and wait for
/// each other without a limit. Collectives run in the thread that starts them,
/// to their end. Ranks on one host watch each other, within the limits of
/// `options` (HostPeers.h). Errors: the rank or its device does not exist, NCCL
/// is missing or fails.
llvm::Expected<std::unique_ptr<Communicator>>
openNcclRanks(const NcclRank &place, const RanksOptions &options = {});

} // namespace mp

#endif // MP_RUNTIME_CUDA_NCCLRANKS_H
