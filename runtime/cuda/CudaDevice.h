//===- CudaDevice.h - the CUDA devices of this machine --------------------===//
#ifndef MP_RUNTIME_CUDA_CUDADEVICE_H
#define MP_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/cuda/Driver.h"
#include <map>
#include <memory>
#include <vector>

namespace mp {
class Communicator;
class Trace;
} // namespace mp

namespace mp::cuda {

class DeviceRanks;

struct DeviceFacts {
  int index = 0;
  Device handle = 0;
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  uint64_t bytes = 0;       ///< of the device's memory
  uint64_t sharedBytes = 0; ///< the most that a block may ask for
  int multiprocessors = 0;

  /// "9.0"
  std::string capability() const;
};

/// All devices, usable or not.
llvm::Expected<std::vector<DeviceFacts>> listDevices();

/// The device `index`, if it is usable: it exists, has compute capability 8.0
/// or later, and NVRTC can compile for it. The error says what is missing.
llvm::Expected<DeviceFacts> examine(int index);

/// The driver's objects that a Session on a device uses as long as it lives.
/// They belong to the device's primary context, which other libraries of this
/// process use too.
class DeviceContext {
public:
  static llvm::Expected<std::unique_ptr<DeviceContext>>
  create(const DeviceFacts &facts);
  /// Waits for the device and releases everything.
  ~DeviceContext();
  DeviceContext(const DeviceContext &) = delete;

  /// Makes the context current in the calling thread; must precede calls of
  /// other driver functions. Costs nothing if it is current already.
  llvm::Error activate() const;
  /// Waits for all runs submitted so far.
  llvm::Error synchronize() const;
  /// Waits for an event; fails as well if another rank ends meanwhile.
  llvm::Error wait(Event event) const;
  /// Copies between host and device, and waits.
  llvm::Error copyToDevice(Address to, const void *from, uint64_t bytes) const;
  llvm::Error copyToHost(void *to, Address from, uint64_t bytes) const;

  const Driver &driver;
  const DeviceFacts facts;
  /// Runs follow one another on `compute`; meanwhile `transfer` copies the
  /// inputs of the next one; library calls are captured on `capture`.
  OwnedStream compute, transfer, capture;

  Context handle() const { return context; }
  std::shared_ptr<Trace> trace; ///< of what the host does; may be null
  /// What each library that is used keeps for this context, by its path.
  mutable std::map<std::string, std::shared_ptr<void>> libraryStates;
  /// The ranks that programs exchange tensors with; null: none.
  std::shared_ptr<Communicator> ranks;
  /// Joins the devices of all ranks at the first call.
  llvm::Expected<DeviceRanks *> joinRanks() const;

private:
  /// Waits until a query of the driver says that what it asks for is done.
  template <typename Query> llvm::Error poll(const char *call, Query) const;

  DeviceContext(const Driver &driver, const DeviceFacts &facts);

  Context context = nullptr;
  mutable std::shared_ptr<DeviceRanks> deviceRanks;
  const uint64_t number; ///< of this context in the process, from 1 on
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUDADEVICE_H
