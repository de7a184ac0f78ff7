//===- DeviceRoutine.h - a library call on a CUDA device ------------------===//
#ifndef MP_RUNTIME_CUDA_DEVICEROUTINE_H
#define MP_RUNTIME_CUDA_DEVICEROUTINE_H

#include "program/Program.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/DeviceKernels.h"
#include <optional>

namespace mp::cuda {

/// One Call of a Program, with everything decided that depends on its shapes
/// alone.
class DeviceRoutine {
public:
  virtual ~DeviceRoutine() = default;
  /// Allocates what `enqueue` needs.
  virtual llvm::Error prepare() { return llvm::Error::success(); }
  /// Enqueues the work on a stream that is being captured into a graph, so it
  /// must not allocate or wait. `args` are the call's.
  virtual llvm::Error enqueue(llvm::ArrayRef<Address> args, Stream stream) = 0;
  /// Whether later steps run meanwhile.
  virtual bool isExchange() const { return false; }
  /// The number, among those of the entry point, of the exchange that this
  /// waits for; nothing else is done then.
  virtual std::optional<size_t> waitsFor() const { return std::nullopt; }
};

/// What the routines of one entry point are made with.
struct RoutineContext {
  const DeviceContext &device;
  const DeviceKernels &kernels; ///< of the program
  size_t exchanges = 0;         ///< made so far
};

/// The alignment of an argument's address, in bytes, that its offset
/// guarantees.
uint32_t alignmentOf(const BufferRef &ref);

/// Makes the routine of `call`. Errors: an unknown routine, an attribute that
/// is missing or wrong, a library that cannot be opened.
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createDeviceRoutine(const Call &call, RoutineContext &context);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_DEVICEROUTINE_H
