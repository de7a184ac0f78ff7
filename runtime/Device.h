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
  int index = 0; ///< of the CUDA device, as the driver numbers them

  /// "cpu", "cuda:1".
  std::string str() const;
  bool operator==(const Device &) const = default;
};

/// A device that was chosen and, where the choice was left to us, why.
struct DeviceChoice {
  Device device;
  std::string reason = {}; ///< one line: "no CUDA driver: ... not found"
  /// Whether a person would wonder: not where there is no driver at all.
  bool isNews = false;
};

/// Fails unless `name` is a spelling of a device: "auto", "cpu", "cuda" (its
/// first) or "cuda:N".
llvm::Error checkDeviceName(llvm::StringRef name);

/// The device that a name stands for. "auto" is a CUDA device where driver,
/// device and compiler are usable and a context can be made, else the CPU, and
/// never fails. An error of the code std::errc::no_such_device: the CUDA device
/// cannot be used, and why.
llvm::Expected<DeviceChoice> chooseDevice(llvm::StringRef name);

} // namespace mp

#endif // MP_RUNTIME_DEVICE_H
