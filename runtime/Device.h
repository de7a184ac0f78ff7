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

/// A device and, if it was chosen by "auto", why.
struct DeviceChoice {
  Device device;
  std::string reason = {}; ///< one line: "no CUDA driver: ... not found"
  /// Whether `reason` may surprise the user; not if there is no driver at all.
  bool isNews = false;
};

/// Fails unless `name` is "auto", "cpu", "cuda" (the first CUDA device) or
/// "cuda:N".
llvm::Error checkDeviceName(llvm::StringRef name);

/// The device that a name stands for. "auto" never fails: it is a CUDA device
/// if driver, device and compiler are usable and a context can be made, else
/// the CPU. A named CUDA device that cannot be used is an error of the code
/// std::errc::no_such_device that says why.
llvm::Expected<DeviceChoice> chooseDevice(llvm::StringRef name);

} // namespace mp

#endif // MP_RUNTIME_DEVICE_H
