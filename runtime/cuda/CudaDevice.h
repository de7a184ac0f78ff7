//===- CudaDevice.h - the CUDA devices of this machine --------------------===//
#ifndef MP_RUNTIME_CUDA_CUDADEVICE_H
#define MP_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/cuda/Driver.h"
#include <memory>
#include <vector>

namespace mp {
class Trace;
}

namespace mp::cuda {

struct DeviceFacts {
  int index = 0;
  Device handle = 0;
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  uint64_t bytes = 0;       ///< of its memory
  uint64_t sharedBytes = 0; ///< the most that a block may ask for

  /// "9.0"
  std::string capability() const;
};

/// All devices, usable or not.
llvm::Expected<std::vector<DeviceFacts>> listDevices();

/// The device `index`, where it can be used here: it exists, has compute
/// capability 8.0 or later, and NVRTC can compile for it. The error says what
/// is missing.
llvm::Expected<DeviceFacts> examine(int index);

/// What a Session on a device holds as long as it lives. Everything that the
/// driver makes belongs to the device's primary context, which other libraries
/// of this process use too.
class DeviceContext {
public:
  static llvm::Expected<std::unique_ptr<DeviceContext>>
  create(const DeviceFacts &facts);
  /// Waits for the device and gives everything back.
  ~DeviceContext();
  DeviceContext(const DeviceContext &) = delete;

  /// Makes the context that of the calling thread; to be called before others
  /// of the driver's functions. Costs nothing where it is already.
  llvm::Error activate() const;
  /// Waits for all runs submitted so far.
  llvm::Error synchronize() const;
  /// Copies between host and device, and waits.
  llvm::Error copyToDevice(Address to, const void *from, uint64_t bytes) const;
  llvm::Error copyToHost(void *to, Address from, uint64_t bytes) const;

  const Driver &driver;
  const DeviceFacts facts;
  /// Runs go one after the other on `compute`; `transfer` brings the inputs of
  /// the next one meanwhile; library calls are captured on `capture`.
  OwnedStream compute, transfer, capture;

  Context handle() const { return context; }
  std::shared_ptr<Trace> trace; ///< of what the host does; may be null
  /// What a library keeps for this context, where one is used.
  mutable std::shared_ptr<void> libraryState;

private:
  DeviceContext(const Driver &driver, const DeviceFacts &facts);

  Context context = nullptr;
  const uint64_t number; ///< of this one in the process, from 1 on
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUDADEVICE_H
