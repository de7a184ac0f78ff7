//===- Nccl.h - NCCL, opened at run time ----------------------------------===//
#ifndef MP_RUNTIME_CUDA_NCCL_H
#define MP_RUNTIME_CUDA_NCCL_H

#include "program/Program.h"
#include "runtime/cuda/Driver.h"

namespace mp::cuda::nccl {

using Status = int; ///< 0: success
using Comm = struct CommOpaque *;

/// ncclUniqueId: by it the ranks of a communicator find each other.
struct UniqueId {
  char bytes[128];
};

enum : int {
  inProgress = 7, ///< a Status
  sum = 0,
  maximum = 2,
};

/// F(name, (parameters)); every function returns a Status.
#define MP_NCCL_FUNCTIONS(F)                                                   \
  F(ncclGetVersion, (int *))                                                   \
  F(ncclGetUniqueId, (UniqueId *))                                             \
  F(ncclCommInitRank, (Comm *, int ranks, UniqueId, int rank))                 \
  F(ncclCommGetAsyncError, (Comm, Status *))                                   \
  F(ncclCommAbort, (Comm))                                                     \
  F(ncclCommDestroy, (Comm))                                                   \
  F(ncclGroupStart, ())                                                        \
  F(ncclGroupEnd, ())                                                          \
  F(ncclSend, (Address, size_t, int type, int peer, Comm, Stream))             \
  F(ncclRecv, (Address, size_t, int type, int peer, Comm, Stream))             \
  F(ncclAllGather, (Address from, Address to, size_t, int type, Comm, Stream)) \
  F(ncclBroadcast,                                                             \
    (Address from, Address to, size_t, int type, int root, Comm, Stream))      \
  F(ncclAllReduce,                                                             \
    (Address from, Address to, size_t, int type, int operation, Comm, Stream)) \
  F(ncclReduceScatter,                                                         \
    (Address from, Address to, size_t, int type, int operation, Comm, Stream))

/// The open library.
struct Library {
#define MP_DECLARE(NAME, PARAMETERS) Status(*NAME) PARAMETERS = nullptr;
  MP_NCCL_FUNCTIONS(MP_DECLARE)
#undef MP_DECLARE
  const char *(*ncclGetErrorString)(Status) = nullptr;
  const char *(*ncclGetLastError)(Comm) = nullptr;
  std::string path;

  /// "NCCL: ncclAllGather failed: invalid argument (4): ..." as an error, or
  /// success.
  llvm::Error check(const char *call, Status status) const;
  /// An error of what a communicator does on its own, or success. NCCL tells of
  /// a rank that has ended where a connection to it breaks, as between
  /// machines; between devices of one machine it mostly notices nothing.
  llvm::Error asyncError(Comm comm) const;
};

/// The library, opened at the first call. Errors: it is missing or older than
/// 2.18. Thread-safe.
llvm::Expected<const Library &> open();

/// Like MP_CUDA, for NCCL.
#define MP_NCCL(LIBRARY, NAME, ...)                                            \
  do {                                                                         \
    if (llvm::Error error =                                                    \
            (LIBRARY).check(#NAME, (LIBRARY).NAME(__VA_ARGS__)))               \
      return error;                                                            \
  } while (false)

/// ncclDataType_t. Those that NCCL lacks, floats of 8 bits and integers of 16,
/// are only moved, and travel as others of their width.
int dataType(ElementType type);

} // namespace mp::cuda::nccl

#endif // MP_RUNTIME_CUDA_NCCL_H
