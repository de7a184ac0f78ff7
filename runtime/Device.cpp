//===- Device.cpp - where a model runs ------------------------------------===//
#include "runtime/Device.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/Libraries.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <optional>

using namespace llvm;

namespace mp {

std::string Device::str() const {
  return kind == Kind::Cpu ? "cpu" : "cuda:" + std::to_string(index);
}

/// The index in "cuda:N"; nothing for any other name.
static std::optional<int> cudaIndex(StringRef name) {
  int index = 0;
  if (!name.consume_front("cuda"))
    return std::nullopt;
  // A sign is rejected: one device has one spelling.
  if (!name.consume_front(":") || name.empty() || !isDigit(name.front()) ||
      name.getAsInteger(10, index))
    return std::nullopt;
  return index;
}

Error checkDeviceName(StringRef name) {
  if (name == "auto" || name == "cpu" || name == "cuda" || cudaIndex(name))
    return Error::success();
  return makeError("unknown device '{0}'{1}", name,
                   suggest(name, {"auto", "cpu", "cuda", "cuda:N"}));
}

/// The CUDA device of a process that names none: each of several on one machine
/// takes its own.
static int ownIndex() {
  for (const char *variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK"}) {
    const char *text = std::getenv(variable);
    int rank = 0;
    if (!text || StringRef(text).getAsInteger(10, rank) || rank < 0)
      continue;
    auto devices = cuda::listDevices();
    if (!devices) {
      consumeError(devices.takeError());
      return 0;
    }
    // Where each process sees one device alone, that is its own.
    return devices->size() > 1 ? rank : 0;
  }
  return 0;
}

/// The facts of a device that is usable: a context is made and released, as
/// only this shows that a device is locked or full. Only "auto" needs it; a
/// device that the user names is checked by the Session.
static Expected<cuda::DeviceFacts> tryDevice(int index) {
  Expected<cuda::DeviceFacts> facts = cuda::examine(index);
  if (!facts)
    return facts;
  auto context = cuda::DeviceContext::create(*facts);
  if (!context)
    return makeError("{0}: {1}", facts->name, toString(context.takeError()));
  return facts;
}

Expected<DeviceChoice> chooseDevice(StringRef name) {
  if (Error error = checkDeviceName(name))
    return error;
  if (name == "cpu")
    return DeviceChoice{};
  std::optional<int> index = cudaIndex(name);
  Device device{Device::Kind::Cuda, index ? *index : ownIndex()};
  Expected<cuda::DeviceFacts> facts =
      name == "auto" ? tryDevice(device.index) : cuda::examine(device.index);
  if (facts)
    return DeviceChoice{
        device, facts->name + ", compute capability " + facts->capability(),
        /*isNews=*/true};
  if (name == "auto") {
    auto driver = cuda::openLibrary(cuda::kDriverLibrary);
    bool hasDriver = static_cast<bool>(driver);
    consumeError(driver.takeError());
    return DeviceChoice{{}, toString(facts.takeError()), hasDriver};
  }
  return cuda::deviceError("device " + name +
                           " is not available: " + toString(facts.takeError()));
}

} // namespace mp
