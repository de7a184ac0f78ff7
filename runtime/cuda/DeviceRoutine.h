//===- DeviceRoutine.h - a library call on a CUDA device ------------------===//
#ifndef MP_RUNTIME_CUDA_DEVICEROUTINE_H
#define MP_RUNTIME_CUDA_DEVICEROUTINE_H

#include "program/Program.h"
#include "runtime/cuda/CudaDevice.h"

namespace mp::cuda {

/// One Call of a Program, with everything decided that depends on its shapes
/// alone.
class DeviceRoutine {
public:
  virtual ~DeviceRoutine() = default;
  /// Enqueues the work on a stream that is being captured into a graph, so it
  /// must not allocate or wait. `args` are the call's.
  virtual llvm::Error enqueue(llvm::ArrayRef<Address> args, Stream stream) = 0;
};

/// Makes the routine of `call`. Errors: an unknown routine, an attribute that
/// is missing or wrong, a library that cannot be opened.
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createDeviceRoutine(const Call &call, const DeviceContext &context);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_DEVICEROUTINE_H
