//===- NcclCalls.h - calls that an emulated communicator runs together ----===//
#ifndef MP_EMULATOR_NCCLCALLS_H
#define MP_EMULATOR_NCCLCALLS_H

#include "NcclGroup.h"

namespace mp::emulator {

/// One call, as all ranks must make it; for Send and Receive `peer` is the
/// other rank, for Broadcast the root.
struct NcclCall {
  enum Kind : int {
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Send,
    Receive
  };
  Kind kind;
  int type;          ///< ncclDataType_t
  int operation = 0; ///< ncclRedOp_t
  int peer = 0;
  uint64_t count = 0;
  uint64_t offset = 0; ///< of the bytes that the rank gives
  const void *from = nullptr;
  void *to = nullptr;

  bool isBetweenTwo() const { return kind == Send || kind == Receive; }
  uint64_t bytesFrom(int ranks) const;
  uint64_t bytesTo(int ranks) const;
  /// "all_gather f32 [128]"
  std::string str() const;
};

/// The bytes of an element; 0: there is no such type.
size_t ncclTypeBytes(int type);

/// Runs calls that are one group. Every group is of all ranks here, unlike
/// NCCL's own.
void runCalls(NcclGroup &group, std::vector<NcclCall> calls);

} // namespace mp::emulator

#endif // MP_EMULATOR_NCCLCALLS_H
