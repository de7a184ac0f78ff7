//===- Device.h - where a model runs --------------------------------------===//
#ifndef MP_RUNTIME_DEVICE_H
#define MP_RUNTIME_DEVICE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mp {

struct Device {
  enum class Kind { Cpu, Cuda };
  Kind kind = Kind::Cpu;
  int index = 0; ///< the driver's number of the CUDA device

  /// "cpu", "cuda:1".
  std::string str() const;
  bool operator==(const Device &) const = default;
};

/// A chosen device and, for "auto", the reason.
struct DeviceChoice {
  Device device;
  std::string reason = {}; ///< one line: "no CUDA driver: ... not found"
  /// Whether the reason should be shown unasked. It should not if there is no
  /// driver at all.
  bool isNews = false;
};

/// Fails unless `name` is "auto", "cpu", "cuda" or "cuda:N".
llvm::Error checkDeviceName(llvm::StringRef name);

/// Returns the device that a name stands for. "cuda" is the first CUDA device,
/// or where there are several and mpirun or torchrun has started several
/// processes on this machine, the one that has this process's number among
/// them (OMPI_COMM_WORLD_LOCAL_RANK, LOCAL_RANK). "auto" is that device if its
/// driver, the device and a compiler are usable and a context can be created.
/// Otherwise it is the CPU, so "auto" never fails. Error:
/// std::errc::no_such_device, with the reason, if a CUDA device cannot be used.
llvm::Expected<DeviceChoice> chooseDevice(llvm::StringRef name);

} // namespace mp

#endif // MP_RUNTIME_DEVICE_H
