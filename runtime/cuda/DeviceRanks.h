//===- DeviceRanks.h - the devices of the ranks that train together -------===//
#ifndef MP_RUNTIME_CUDA_DEVICERANKS_H
#define MP_RUNTIME_CUDA_DEVICERANKS_H

#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/Nccl.h"
#include "runtime/ranks/Communicator.h"

namespace mp::cuda {

/// One rank's end of an NCCL communicator, which joins the devices of a
/// Communicator's ranks.
class DeviceRanks {
public:
  /// Must be called by all ranks. Opens NCCL, and lets every rank send to each
  /// other one, as connections cannot be made while a graph is captured.
  /// Errors, on all ranks: one of them lacks NCCL, or NCCL fails.
  static llvm::Expected<std::shared_ptr<DeviceRanks>>
  join(const DeviceContext &context, std::shared_ptr<Communicator> ranks);
  /// All graphs with exchanges must be gone.
  ~DeviceRanks();
  DeviceRanks(const DeviceRanks &) = delete;

  int64_t rank() const { return ranks->rank(); }
  int64_t size() const { return ranks->size(); }

  /// Whether a rank has ended or an exchange has failed. After that no exchange
  /// ends by itself; this ends those under way.
  llvm::Error failure();

  /// Reserves memory that exchanges use in turn; must precede `scratch`.
  void reserve(uint64_t bytes) { reserved = std::max(reserved, bytes); }
  /// Allocates what is reserved.
  llvm::Error allocate();
  /// As many bytes as were reserved at the last call of `allocate`. It lives as
  /// long as this.
  Address scratch() const { return memories.back().get(); }

  const nccl::Library &library;
  nccl::Comm comm = nullptr;

private:
  DeviceRanks(const DeviceContext &context, const nccl::Library &library,
              std::shared_ptr<Communicator> ranks)
      : library(library), context(context), ranks(std::move(ranks)) {}

  llvm::Error connect();
  llvm::Error exchangeOnce(Address from, Address to);

  const DeviceContext &context;
  std::shared_ptr<Communicator> ranks;
  std::string problem; ///< of the first failure
  uint64_t reserved = 0, allocated = 0;
  std::vector<DeviceMemory> memories; ///< the last is in use by new graphs
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_DEVICERANKS_H
