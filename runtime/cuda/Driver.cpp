//===- Driver.cpp - the CUDA driver, opened at run time -------------------===//
#include "runtime/cuda/Driver.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mp::cuda {

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Error Driver::check(const char *call, Result result) const {
  if (result == 0)
    return Error::success();
  const char *name = nullptr;
  if (cuGetErrorName(result, &name) != 0 || !name)
    name = "unknown error";
  return deviceError(Twine("CUDA driver: ") + call + " failed: " + name + " (" +
                     Twine(result) + ")");
}

static Expected<Driver> load() {
  Expected<OpenLibrary> library = openLibrary(kDriverLibrary);
  if (!library)
    return library.takeError();
  Driver driver;
  driver.path = library->path;
  // An old driver lacks functions, so its version is checked first.
  auto getVersion =
      findFunction(*library, kDriverLibrary.title, "cuDriverGetVersion");
  if (!getVersion)
    return getVersion.takeError();
  Result result =
      reinterpret_cast<Result (*)(int *)>(*getVersion)(&driver.version);
  if (result == 0 && driver.version < kOldestDriver)
    return deviceError("the CUDA driver " + driver.path + " is for CUDA " +
                       versionText(driver.version) + ", expected " +
                       versionText(kOldestDriver) + " or later");
#define MP_RESOLVE(NAME, PARAMETERS)                                           \
  {                                                                            \
    auto address = findFunction(*library, kDriverLibrary.title, #NAME);        \
    if (!address)                                                              \
      return address.takeError();                                              \
    driver.NAME = reinterpret_cast<Result(*) PARAMETERS>(*address);            \
  }
  MP_CUDA_FUNCTIONS(MP_RESOLVE)
#undef MP_RESOLVE
  if (Error error = driver.check("cuDriverGetVersion", result))
    return error;
  result = driver.cuInit(0);
  if (result == statusNoDevice)
    return deviceError("the CUDA driver " + driver.path + " sees no device");
  if (Error error = driver.check("cuInit", result))
    return error;
  return driver;
}

Expected<const Driver &> openDriver() { return openOnce(load); }

/// "cannot allocate 64 bytes of pinned memory for results: ..."
static Error cannotAllocate(Error error, uint64_t bytes, StringRef kind,
                            const Twine &what) {
  return deviceError("cannot allocate " + Twine(bytes) + " bytes of " + kind +
                     " memory for " + what + ": " + toString(std::move(error)));
}

Expected<DeviceMemory> allocateDevice(const Driver &driver, uint64_t bytes,
                                      const Twine &what) {
  DeviceMemory memory(driver);
  if (bytes == 0)
    return memory;
  // Kernels may read to the end of a tensor's last vector.
  constexpr uint64_t vector = 16;
  bytes = alignTo(bytes, vector);
  if (Error error = driver.check("cuMemAlloc_v2",
                                 driver.cuMemAlloc_v2(memory.slot(), bytes)))
    return cannotAllocate(std::move(error), bytes, "device", what);
  MP_CUDA(driver, cuMemsetD8_v2, memory.get(), 0, bytes);
  // The memset runs on the default stream, for which our streams do not wait.
  MP_CUDA(driver, cuStreamSynchronize, nullptr);
  return memory;
}

Expected<PinnedMemory> allocatePinned(const Driver &driver, uint64_t bytes,
                                      const Twine &what) {
  PinnedMemory memory(driver);
  if (bytes == 0)
    return memory;
  if (Error error = driver.check(
          "cuMemHostAlloc", driver.cuMemHostAlloc(memory.slot(), bytes, 0)))
    return cannotAllocate(std::move(error), bytes, "pinned", what);
  return memory;
}

} // namespace mp::cuda
