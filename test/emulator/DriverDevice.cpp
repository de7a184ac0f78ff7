//===- DriverDevice.cpp - devices, contexts, errors -----------------------===//

#include "Driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace mp::emulator;

namespace mp::emulator {

bool &initialised() {
  static bool value = false;
  return value;
}
CUcontext &currentContext() {
  static thread_local CUcontext context = nullptr;
  return context;
}
int claimedArch() {
  return static_cast<int>(setting(getenv("MP_EMULATOR_ARCH"), 80));
}

} // namespace mp::emulator

constexpr int maxDevices = 16;

static int deviceCount() {
  auto count = setting(getenv("MP_EMULATOR_DEVICES"), 1);
  return static_cast<int>(count < 0            ? 0
                          : count > maxDevices ? maxDevices
                                               : count);
}

static DriverContext contexts[maxDevices];

static DriverContext &primaryContext(CUdevice device) {
  contexts[device].device = device;
  return contexts[device];
}

/// A call about one device.
template <typename Body>
static CUresult callDevice(const char *name, CUdevice device, Body body) {
  return call(
      name, format("device=%d", device),
      [&] {
        return device < 0 || device >= deviceCount() ? CUDA_ERROR_INVALID_DEVICE
                                                     : body();
      },
      Needs::Init);
}

static std::string leftovers() {
  return format("alive: allocations=%zu bytes=%zu pinned=%zu streams=%zu "
                "events=%zu modules=%zu graphs=%zu",
                deviceHeap().count(), deviceHeap().bytes(),
                pinnedHeap().count(), streamCount(), eventCount(),
                moduleCount(), graphCount());
}

// Reports leaks: the objects alive when the process ends.
__attribute__((destructor)) static void atEnd() {
  if (initialised())
    log(leftovers());
}

static void forgetEverything() {
  log(leftovers());
  clearGraphs();
  clearEvents();
  clearStreams();
  clearModules();
  deviceHeap().clear();
  pinnedHeap().clear();
  stickyError() = CUDA_SUCCESS;
}

MP_EXPORT CUresult cuInit(unsigned flags) {
  return call(
      "cuInit", "",
      [&] {
        if (flags)
          return CUDA_ERROR_INVALID_VALUE;
        if (!deviceCount())
          return CUDA_ERROR_NO_DEVICE;
        initialised() = true;
        return CUDA_SUCCESS;
      },
      Needs::Nothing);
}

MP_EXPORT CUresult cuDriverGetVersion(int *version) {
  return call(
      "cuDriverGetVersion", "",
      [&] {
        *version =
            static_cast<int>(setting(getenv("MP_EMULATOR_DRIVER"), 13000));
        return CUDA_SUCCESS;
      },
      Needs::Nothing);
}

MP_EXPORT CUresult cuDeviceGetCount(int *count) {
  return call(
      "cuDeviceGetCount", "",
      [&] {
        *count = deviceCount();
        return CUDA_SUCCESS;
      },
      Needs::Init);
}

MP_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return callDevice("cuDeviceGet", ordinal, [&] {
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return callDevice("cuDeviceGetName", device, [&] {
    if (length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    std::string text = format("Mantissa emulator %d.%d", claimedArch() / 10,
                              claimedArch() % 10);
    strncpy(name, text.c_str(), length - 1);
    name[length - 1] = 0;
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  return callDevice("cuDeviceTotalMem", device, [&] {
    *bytes = memoryBytes;
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return callDevice("cuDeviceGetUuid", device, [&] {
    memcpy(uuid->bytes, "mantissa-device", 16);
    uuid->bytes[15] = static_cast<char>('0' + device);
    return CUDA_SUCCESS;
  });
}
MP_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

/// Returns the shared memory that a block of the claimed architecture can
/// request.
static int sharedOptin() {
  switch (claimedArch()) {
  case 80:
  case 87:
    return 163 << 10;
  case 86:
  case 88:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return claimedArch() >= 90 ? 227 << 10 : 64 << 10;
  }
}

int mp::emulator::deviceAttribute(int attribute) {
  switch (attribute) {
  case MaxThreadsPerBlock:
  case MaxBlockDimX:
  case MaxBlockDimY:
    return 1024;
  case MaxBlockDimZ:
    return 64;
  case MaxGridDimX:
    return 0x7fffffff;
  case MaxGridDimY:
  case MaxGridDimZ:
    return 65535;
  case MaxSharedMemoryPerBlock:
    return 48 << 10;
  case MaxSharedMemoryPerBlockOptin:
    return sharedOptin();
  case MaxSharedMemoryPerMultiprocessor:
    return sharedOptin() + (1 << 10);
  case WarpSize:
    return 32;
  case MaxRegistersPerBlock:
  case MaxRegistersPerMultiprocessor:
    return 65536;
  case MaxThreadsPerMultiprocessor:
    return 2048;
  case MaxBlocksPerMultiprocessor:
    return 32;
  case MultiprocessorCount:
    return 4; // few, so that kernels sized by it have few blocks
  case L2CacheSize:
    return 4 << 20;
  case ClockRate:
  case MemoryClockRate:
    return 1000000;
  case GlobalMemoryBusWidth:
    return 256;
  case UnifiedAddressing:
    return 1;
  case ComputeCapabilityMajor:
    return claimedArch() / 10;
  case ComputeCapabilityMinor:
    return claimedArch() % 10;
  default:
    return 0; // unsupported
  }
}

MP_EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute,
                                        CUdevice device) {
  return callDevice("cuDeviceGetAttribute", device, [&] {
    if (attribute <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    *value = deviceAttribute(attribute);
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context,
                                            CUdevice device) {
  return callDevice("cuDevicePrimaryCtxRetain", device, [&] {
    *context = &primaryContext(device);
    ++(*context)->users;
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return callDevice("cuDevicePrimaryCtxRelease", device, [&] {
    DriverContext &context = primaryContext(device);
    if (!context.users)
      return CUDA_ERROR_INVALID_CONTEXT;
    // Another device's threads may still use what is theirs.
    --context.users;
    if (std::none_of(contexts, contexts + maxDevices,
                     [](const DriverContext &each) { return each.users; }))
      forgetEverything();
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return callDevice("cuDevicePrimaryCtxReset", device, [&] {
    forgetEverything();
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return call(
      "cuCtxSetCurrent", "",
      [&] {
        currentContext() = context;
        return CUDA_SUCCESS;
      },
      Needs::Init);
}

MP_EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
  return call(
      "cuCtxGetCurrent", "",
      [&] {
        *context = currentContext();
        return CUDA_SUCCESS;
      },
      Needs::Init);
}

MP_EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
  return call("cuCtxGetDevice", "", [&] {
    *device = currentContext()->device;
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuCtxSynchronize() {
  return call("cuCtxSynchronize", "", [] { return waitForAll(); });
}

MP_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return call("cuCtxGetStreamPriorityRange", "", [&] {
    *least = *greatest = 0;
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Errors and addresses of functions: neither logged nor failed
//===----------------------------------------------------------------------===//

namespace {
struct ErrorName {
  CUresult error;
  const char *name, *text;
};
} // namespace
static const ErrorName errorNames[] = {
#define MP_ERROR(name, text) {CUDA_##name, "CUDA_" #name, text}
    MP_ERROR(SUCCESS, "no error"),
    MP_ERROR(ERROR_INVALID_VALUE, "invalid argument"),
    MP_ERROR(ERROR_OUT_OF_MEMORY, "out of memory"),
    MP_ERROR(ERROR_NOT_INITIALIZED, "initialization error"),
    MP_ERROR(ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    MP_ERROR(ERROR_INVALID_DEVICE, "invalid device ordinal"),
    MP_ERROR(ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    MP_ERROR(ERROR_INVALID_CONTEXT, "invalid device context"),
    MP_ERROR(ERROR_NO_BINARY_FOR_GPU,
             "no kernel image is available for execution on the device"),
    MP_ERROR(ERROR_INVALID_HANDLE, "invalid resource handle"),
    MP_ERROR(ERROR_NOT_FOUND, "named symbol not found"),
    MP_ERROR(ERROR_NOT_READY, "device not ready"),
    MP_ERROR(ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    MP_ERROR(ERROR_LAUNCH_OUT_OF_RESOURCES,
             "too many resources requested for launch"),
    MP_ERROR(ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    MP_ERROR(ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    MP_ERROR(ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    MP_ERROR(ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "operation not permitted when stream is capturing"),
    MP_ERROR(ERROR_STREAM_CAPTURE_INVALIDATED,
             "operation failed due to a previous error during capture"),
    MP_ERROR(ERROR_STREAM_CAPTURE_UNMATCHED,
             "the stream was not the origin of the capture"),
    MP_ERROR(ERROR_STREAM_CAPTURE_UNJOINED,
             "capturing stream has unjoined work"),
    MP_ERROR(ERROR_CAPTURED_EVENT,
             "operation not permitted on an event last recorded in a "
             "capturing stream"),
    MP_ERROR(ERROR_UNKNOWN, "unknown error"),
#undef MP_ERROR
};

static const ErrorName *findError(CUresult error) {
  for (const ErrorName &name : errorNames)
    if (name.error == error)
      return &name;
  return nullptr;
}

MP_EXPORT CUresult cuGetErrorName(CUresult error, const char **name) {
  const ErrorName *found = findError(error);
  *name = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MP_EXPORT CUresult cuGetErrorString(CUresult error, const char **text) {
  const ErrorName *found = findError(error);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Looks up the newest version of a function: name_v2 before name.
MP_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int,
                                       uint64_t, int *status) {
  Dl_info self;
  dladdr(reinterpret_cast<void *>(cuInit), &self);
  void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(library, (std::string(symbol) + "_v2").c_str());
  if (!*function)
    *function = dlsym(library, symbol);
  dlclose(library);
  if (status)
    *status = *function ? 0 : 1; // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
