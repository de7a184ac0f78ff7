//===- DriverMemory.cpp - memory and copies -------------------------------===//

#include "Driver.h"

#include <cstring>

using namespace mp::emulator;

static void *pointer(CUdeviceptr address) {
  return reinterpret_cast<void *>(address);
}
static bool onDevice(const void *address, size_t bytes) {
  return deviceHeap().find(address, bytes);
}

namespace mp::emulator {

Operation copyOperation(void *to, const void *from, size_t bytes, bool toDevice,
                        bool fromDevice) {
  return [=] {
    if ((toDevice && !onDevice(to, bytes)) ||
        (fromDevice && !onDevice(from, bytes)))
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    memmove(to, from, bytes);
    return CUDA_SUCCESS;
  };
}

Operation fillOperation(void *to, unsigned value, size_t elementBytes,
                        size_t width, size_t height, size_t pitch) {
  return [=] {
    for (size_t row = 0; row < height; ++row) {
      auto *line = static_cast<unsigned char *>(to) + row * pitch;
      if (!onDevice(line, width * elementBytes))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
      // The machine is little-endian: an element is the value's first bytes.
      for (size_t at = 0; at < width; ++at)
        memcpy(line + at * elementBytes, &value, elementBytes);
    }
    return CUDA_SUCCESS;
  };
}

} // namespace mp::emulator

MP_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  return call("cuMemAlloc", format("bytes=%zu", bytes), [&] {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    if (bytes > memoryBytes - deviceHeap().bytes())
      return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(deviceHeap().allocate(bytes));
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

MP_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return call("cuMemFree", "", [&] {
    if (!address)
      return CUDA_SUCCESS;
    CUresult error = waitForAll(); // as the driver does
    if (error != CUDA_SUCCESS)
      return error;
    return deviceHeap().release(pointer(address)) ? CUDA_SUCCESS
                                                  : CUDA_ERROR_INVALID_VALUE;
  });
}

MP_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes,
                                           CUdeviceptr address) {
  return call("cuMemGetAddressRange", "", [&] {
    const GuardedRange *range = deviceHeap().find(pointer(address), 1);
    if (!range)
      return CUDA_ERROR_NOT_FOUND;
    if (base)
      *base = reinterpret_cast<CUdeviceptr>(range->data());
    if (bytes)
      *bytes = range->size();
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  return call("cuMemGetInfo", "", [&] {
    *total = memoryBytes;
    *available = memoryBytes - deviceHeap().bytes();
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  return call("cuMemHostAlloc", format("bytes=%zu", bytes), [&] {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *address = pinnedHeap().allocate(bytes);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}
MP_EXPORT CUresult cuMemAllocHost_v2(void **address, size_t bytes) {
  return cuMemHostAlloc(address, bytes, 0);
}

MP_EXPORT CUresult cuMemFreeHost(void *address) {
  return call("cuMemFreeHost", "", [&] {
    CUresult error = waitForAll();
    if (error != CUDA_SUCCESS)
      return error;
    return pinnedHeap().release(address) ? CUDA_SUCCESS
                                         : CUDA_ERROR_INVALID_VALUE;
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
struct Copy {
  void *to;
  const void *from;
  size_t bytes;
  bool toDevice, fromDevice;

  bool valid() const {
    return (!toDevice || onDevice(to, bytes)) &&
           (!fromDevice || onDevice(from, bytes));
  }
  Operation operation() const {
    return copyOperation(to, from, bytes, toDevice, fromDevice);
  }
  /// Whether the device cannot reach the memory itself: then it is copied
  /// before the call returns.
  bool pageable() const {
    return (!toDevice && !pinnedHeap().find(to, bytes)) ||
           (!fromDevice && !pinnedHeap().find(from, bytes));
  }
};
} // namespace

static CUresult copyNow(const char *name, const Copy &copy) {
  return call(name, format("bytes=%zu", copy.bytes), [&] {
    if (!copy.valid())
      return CUDA_ERROR_INVALID_VALUE;
    auto legacy = findStream(nullptr);
    submit(legacy, copy.operation());
    return wait(now(legacy));
  });
}

static CUresult copyLater(const char *name, const Copy &copy, CUstream handle) {
  return callOn(handle, name, format("bytes=%zu", copy.bytes),
                [&](const std::shared_ptr<Stream> &stream) {
                  if (!copy.valid())
                    return CUDA_ERROR_INVALID_VALUE;
                  submit(stream, copy.operation());
                  return copy.pageable() && !stream->capture ? wait(now(stream))
                                                             : CUDA_SUCCESS;
                });
}

MP_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from,
                                   size_t bytes) {
  return copyNow("cuMemcpyHtoD", {pointer(to), from, bytes, true, false});
}
MP_EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return copyNow("cuMemcpyDtoH", {to, pointer(from), bytes, false, true});
}
MP_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from,
                                   size_t bytes) {
  return copyNow("cuMemcpyDtoD",
                 {pointer(to), pointer(from), bytes, true, true});
}
MP_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from,
                                        size_t bytes, CUstream stream) {
  return copyLater("cuMemcpyHtoDAsync", {pointer(to), from, bytes, true, false},
                   stream);
}
MP_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from,
                                        size_t bytes, CUstream stream) {
  return copyLater("cuMemcpyDtoHAsync", {to, pointer(from), bytes, false, true},
                   stream);
}
MP_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                        size_t bytes, CUstream stream) {
  return copyLater("cuMemcpyDtoDAsync",
                   {pointer(to), pointer(from), bytes, true, true}, stream);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

static CUresult fill(const char *name, CUdeviceptr to, unsigned value,
                     size_t elementBytes, size_t count, CUstream handle) {
  return callOn(
      handle, name, format("bytes=%zu", count * elementBytes),
      [&](const std::shared_ptr<Stream> &stream) {
        if (!onDevice(pointer(to), count * elementBytes) || to % elementBytes)
          return CUDA_ERROR_INVALID_VALUE;
        return submit(stream, fillOperation(pointer(to), value, elementBytes,
                                            count, 1, 0));
      });
}

// Like the driver's, these do not wait: they only order the legacy stream.
MP_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value,
                                 size_t count) {
  return fill("cuMemsetD8", to, value, 1, count, nullptr);
}
MP_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value,
                                  size_t count) {
  return fill("cuMemsetD32", to, value, 4, count, nullptr);
}
MP_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value,
                                   size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", to, value, 1, count, stream);
}
MP_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value,
                                    size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", to, value, 2, count, stream);
}
MP_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value,
                                    size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", to, value, 4, count, stream);
}
