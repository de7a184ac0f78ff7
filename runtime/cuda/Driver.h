//===- Driver.h - the CUDA driver, opened at run time ---------------------===//
//
// Our own declarations of the part of the driver API that we use, as it has
// been since CUDA 12.0 (names have the suffix that the CUDA header hides).
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_DRIVER_H
#define MP_RUNTIME_CUDA_DRIVER_H

#include "runtime/cuda/Libraries.h"
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mp::cuda {

using Result = int; ///< 0: success
using Device = int;
using Address = unsigned long long; ///< in device memory
using Context = struct ContextOpaque *;
using Module = struct ModuleOpaque *;
using Function = struct FunctionOpaque *;
using Stream = struct StreamOpaque *;
using Event = struct EventOpaque *;
using Graph = struct GraphOpaque *;
using GraphNode = struct GraphNodeOpaque *;
using GraphExec = struct GraphExecOpaque *;

enum : unsigned {
  streamNonBlocking = 1,
  eventDisableTiming = 2,
  captureThreadLocal = 1,
  memoryHost = 1,
  memoryDevice = 2,
};
enum : int {
  attributeMultiprocessors = 16,
  attributeComputeMajor = 75,
  attributeComputeMinor = 76,
  attributeSharedPerBlockOptin = 97,
  functionMaxDynamicShared = 8,
  launchCooperative = 2,
  statusNoDevice = 100,
  statusNotReady = 600,
};

/// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNode {
  Function function = nullptr;
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  void **parameters = nullptr;
  void **extra = nullptr;
  void *kernel = nullptr;
  Context context = nullptr;
};

/// CUlaunchAttributeValue
union LaunchAttribute {
  char bytes[64];
  int cooperative;
};

/// One side of a CUDA_MEMCPY3D_v2.
struct CopyEnd {
  size_t x = 0, y = 0, z = 0, lod = 0;
  unsigned memory = memoryDevice;
  const void *host = nullptr;
  Address device = 0;
  void *array = nullptr;
  void *reserved = nullptr;
  size_t pitch = 0, height = 0;
};

/// CUDA_MEMCPY3D_v2
struct CopyNode {
  CopyEnd from, to;
  size_t bytes = 0, height = 1, depth = 1;
};

/// F(name, (parameters)); every function returns a Result.
#define MP_CUDA_FUNCTIONS(F)                                                   \
  F(cuInit, (unsigned flags))                                                  \
  F(cuGetErrorName, (Result, const char **))                                   \
  F(cuDriverGetVersion, (int *))                                               \
  F(cuDeviceGetCount, (int *))                                                 \
  F(cuDeviceGet, (Device *, int index))                                        \
  F(cuDeviceGetName, (char *name, int bytes, Device))                          \
  F(cuDeviceGetAttribute, (int *, int attribute, Device))                      \
  F(cuDeviceTotalMem_v2, (size_t *, Device))                                   \
  F(cuDevicePrimaryCtxRetain, (Context *, Device))                             \
  F(cuDevicePrimaryCtxRelease_v2, (Device))                                    \
  F(cuCtxSetCurrent, (Context))                                                \
  F(cuMemGetInfo_v2, (size_t *free, size_t *total))                            \
  F(cuMemAlloc_v2, (Address *, size_t bytes))                                  \
  F(cuMemFree_v2, (Address))                                                   \
  F(cuMemHostAlloc, (void **, size_t bytes, unsigned flags))                   \
  F(cuMemFreeHost, (void *))                                                   \
  F(cuMemsetD8_v2, (Address, unsigned char value, size_t bytes))               \
  F(cuMemcpyHtoD_v2, (Address to, const void *from, size_t bytes))             \
  F(cuMemcpyDtoH_v2, (void *to, Address from, size_t bytes))                   \
  F(cuMemcpyHtoDAsync_v2, (Address to, const void *from, size_t, Stream))      \
  F(cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t, Stream))          \
  F(cuModuleLoadData, (Module *, const void *image))                           \
  F(cuModuleUnload, (Module))                                                  \
  F(cuModuleGetFunction, (Function *, Module, const char *name))               \
  F(cuFuncSetAttribute, (Function, int attribute, int value))                  \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
    (int *, Function, int threads, size_t sharedBytes))                        \
  F(cuLaunchKernel,                                                            \
    (Function, unsigned gridX, unsigned gridY, unsigned gridZ,                 \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     Stream, void **parameters, void **extra))                                 \
  F(cuStreamCreate, (Stream *, unsigned flags))                                \
  F(cuStreamDestroy_v2, (Stream))                                              \
  F(cuStreamSynchronize, (Stream))                                             \
  F(cuStreamQuery, (Stream))                                                   \
  F(cuStreamWaitEvent, (Stream, Event, unsigned flags))                        \
  F(cuStreamBeginCapture_v2, (Stream, unsigned mode))                          \
  F(cuStreamEndCapture, (Stream, Graph *))                                     \
  F(cuEventCreate, (Event *, unsigned flags))                                  \
  F(cuEventDestroy_v2, (Event))                                                \
  F(cuEventRecord, (Event, Stream))                                            \
  F(cuEventSynchronize, (Event))                                               \
  F(cuEventQuery, (Event))                                                     \
  F(cuEventElapsedTime, (float *milliseconds, Event start, Event end))         \
  F(cuGraphCreate, (Graph *, unsigned flags))                                  \
  F(cuGraphDestroy, (Graph))                                                   \
  F(cuGraphAddKernelNode_v2,                                                   \
    (GraphNode *, Graph, const GraphNode *after, size_t, const KernelNode *))  \
  F(cuGraphKernelNodeSetAttribute,                                             \
    (GraphNode, int attribute, const LaunchAttribute *))                       \
  F(cuGraphAddMemcpyNode, (GraphNode *, Graph, const GraphNode *after, size_t, \
                           const CopyNode *, Context))                         \
  F(cuGraphAddChildGraphNode,                                                  \
    (GraphNode *, Graph, const GraphNode *after, size_t, Graph child))         \
  F(cuGraphAddEventRecordNode,                                                 \
    (GraphNode *, Graph, const GraphNode *after, size_t, Event))               \
  F(cuGraphGetNodes, (Graph, GraphNode *, size_t *))                           \
  F(cuGraphInstantiateWithFlags, (GraphExec *, Graph, unsigned long long))     \
  F(cuGraphExecDestroy, (GraphExec))                                           \
  F(cuGraphUpload, (GraphExec, Stream))                                        \
  F(cuGraphLaunch, (GraphExec, Stream))

/// The open driver.
struct Driver {
#define MP_DECLARE(NAME, PARAMETERS) Result(*NAME) PARAMETERS = nullptr;
  MP_CUDA_FUNCTIONS(MP_DECLARE)
#undef MP_DECLARE
  std::string path;
  int version = 0; ///< 12020: 12.2

  /// "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2)" as an error, or success.
  llvm::Error check(const char *call, Result result) const;
};

/// The oldest supported driver version: CUDA 12.0.
inline constexpr int kOldestDriver = 12000;
/// "12.2" of 12020.
std::string versionText(int version);

/// The driver, opened and initialised at the first call. Errors: it is missing
/// or too old, or a call fails. Thread-safe.
llvm::Expected<const Driver &> openDriver();

/// Calls a function of the driver `DRIVER`; if that fails, returns the error
/// from the enclosing function.
#define MP_CUDA(DRIVER, NAME, ...)                                             \
  do {                                                                         \
    if (llvm::Error error = (DRIVER).check(#NAME, (DRIVER).NAME(__VA_ARGS__))) \
      return error;                                                            \
  } while (false)

/// Owns an object of the driver. Errors of its destruction are ignored: after
/// an error every call fails, and the first failure has been reported.
template <typename T, auto Destroy> class Handle {
public:
  Handle() = default;
  explicit Handle(const Driver &driver) : driver(&driver) {}
  Handle(const Driver &driver, T value) : driver(&driver), value(value) {}
  Handle(Handle &&other) noexcept { *this = std::move(other); }
  Handle &operator=(Handle &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(value, other.value);
    return *this;
  }
  ~Handle() {
    if (value)
      (driver->*Destroy)(value);
  }
  T get() const { return value; }
  /// The place in which a function of the driver stores the new object.
  T *slot() { return &value; }

private:
  const Driver *driver = nullptr;
  T value{};
};

using OwnedModule = Handle<Module, &Driver::cuModuleUnload>;
using OwnedStream = Handle<Stream, &Driver::cuStreamDestroy_v2>;
using OwnedEvent = Handle<Event, &Driver::cuEventDestroy_v2>;
using OwnedGraph = Handle<Graph, &Driver::cuGraphDestroy>;
using OwnedGraphExec = Handle<GraphExec, &Driver::cuGraphExecDestroy>;
using DeviceMemory = Handle<Address, &Driver::cuMemFree_v2>;
using PinnedMemory = Handle<void *, &Driver::cuMemFreeHost>;

/// Device memory of `bytes` bytes, all zero; no memory for 0 bytes. `what`
/// names it in the error.
llvm::Expected<DeviceMemory>
allocateDevice(const Driver &driver, uint64_t bytes, const llvm::Twine &what);
/// Host memory that the device can read and write by itself.
llvm::Expected<PinnedMemory>
allocatePinned(const Driver &driver, uint64_t bytes, const llvm::Twine &what);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_DRIVER_H
