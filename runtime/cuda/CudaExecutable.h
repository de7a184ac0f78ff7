//===- CudaExecutable.h - an entry point as two CUDA graphs ---------------===//
//
// A run is one graph launch. There are two slots, each with its own inputs,
// results and graph, used in turn: while the device works on one run, the
// inputs of the next are copied to the other slot on a second stream, and the
// host reads the results of the one before. The host waits for a run only to
// reuse its slot, when the second run after it is submitted.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_CUDAEXECUTABLE_H
#define MP_RUNTIME_CUDA_CUDAEXECUTABLE_H

#include "runtime/Profile.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/DeviceRoutine.h"
#include <array>

namespace mp::cuda {

/// The addresses and functions that the indices of a Program stand for.
struct DeviceLinkage {
  std::vector<Address> variables, constants;
  std::vector<Function> kernels;
  std::vector<KernelName> names; ///< of the kernels
};

class CudaExecutable final : public Executable {
public:
  static constexpr unsigned slotCount = 2;

  /// `arena` is read whenever the graphs are built. `routines` are those of the
  /// entry's calls, in their order.
  CudaExecutable(Entry entry, DeviceLinkage linkage,
                 std::vector<std::unique_ptr<DeviceRoutine>> routines,
                 DeviceContext &context, const DeviceMemory &arena)
      : description(std::move(entry)), linkage(std::move(linkage)),
        routines(std::move(routines)), context(context), arena(arena) {}

  /// Allocates the slots.
  llvm::Error allocate();
  /// Builds the graphs. Must be called again after the arena has moved, when no
  /// run is under way.
  llvm::Error build();

  const Entry &entry() const override { return description; }
  llvm::Expected<Results> results(Ticket ticket) override;

protected:
  llvm::Expected<Ticket> start(Inputs inputs) override;
  llvm::Expected<Profile> measure(Inputs inputs) override;

private:
  struct Slot {
    PinnedMemory staged, returned; ///< inputs and results on the host
    DeviceMemory inputs, tables;
    OwnedEvent copied, done;
    OwnedGraphExec graph;
    std::vector<const void *> results;
  };
  /// A range of device bytes that the graph copies to `offset` in
  /// Slot::returned.
  struct Span {
    BufferRef from;
    uint64_t bytes, offset;
  };
  class Builder;

  llvm::Error allocate(Slot &slot);
  /// The graph of a slot without the copies of results, with `timers` recorded
  /// before each step and after the last.
  llvm::Expected<OwnedGraphExec> buildTimed(Slot &slot,
                                            llvm::ArrayRef<OwnedEvent> timers);
  llvm::Expected<std::vector<OwnedEvent>> createTimers(size_t count) const;
  llvm::Expected<std::vector<std::vector<double>>> timeSteps();
  llvm::Expected<double> measureCopy() const;
  Address address(const BufferRef &ref, const Slot &slot) const;
  void planResults();
  llvm::Error launch(Slot &slot, Inputs inputs);
  llvm::Error located(llvm::Error error, Ticket ticket) const;

  Entry description;
  DeviceLinkage linkage;
  std::vector<std::unique_ptr<DeviceRoutine>> routines;
  DeviceContext &context;
  const DeviceMemory &arena;
  std::vector<uint64_t> inputOffsets, resultOffsets; ///< in a slot
  std::vector<Span> spans;
  uint64_t inputBytes = 0, tableBytes = 0, resultBytes = 0;
  std::array<Slot, slotCount> slots;
  size_t graphNodes = 0; ///< of a slot's graph
  Ticket runs = 0;
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUDAEXECUTABLE_H
