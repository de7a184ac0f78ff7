//===- DriverModule.cpp - modules, functions, launches --------------------===//

#include "Driver.h"
#include "Module.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

using namespace mp::emulator;

static std::vector<std::unique_ptr<Module>> &modules() {
  static auto *all = new std::vector<std::unique_ptr<Module>>;
  return *all;
}

namespace mp::emulator {
size_t moduleCount() { return modules().size(); }
void clearModules() { modules().clear(); }
} // namespace mp::emulator

static auto findModule(CUmodule module) {
  return std::find_if(modules().begin(), modules().end(),
                      [&](const auto &own) { return own.get() == module; });
}

template <typename Body>
static CUresult callModule(const char *name, const std::string &details,
                           CUmodule module, Body body) {
  return call(name, details, [&] {
    return findModule(module) == modules().end() ? CUDA_ERROR_INVALID_HANDLE
                                                 : body();
  });
}

MP_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return call("cuModuleLoadData", "", [&] {
    CUresult error = CUDA_SUCCESS;
    auto loaded = loadModule(image, claimedArch(), &error);
    if (!loaded)
      return error;
    *module = loaded.get();
    modules().push_back(std::move(loaded));
    return CUDA_SUCCESS;
  });
}
MP_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                      unsigned, void *, void **) {
  return cuModuleLoadData(module, image);
}

MP_EXPORT CUresult cuModuleUnload(CUmodule module) {
  return callModule("cuModuleUnload", "", module, [&] {
    CUresult error = waitForAll(); // its kernels may still be queued
    if (error == CUDA_SUCCESS)
      modules().erase(findModule(module));
    return error;
  });
}

MP_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                                       const char *name) {
  return callModule("cuModuleGetFunction", format("name=%s", name), module,
                    [&] {
                      for (const auto &kernel : module->kernels)
                        if (!strcmp(kernel->entry->name, name)) {
                          *function = kernel.get();
                          return CUDA_SUCCESS;
                        }
                      return CUDA_ERROR_NOT_FOUND;
                    });
}

MP_EXPORT CUresult cuFuncSetAttribute(CUfunction function, int attribute,
                                      int value) {
  return call("cuFuncSetAttribute",
              format("name=%s attribute=%d value=%d", function->entry->name,
                     attribute, value),
              [&] {
                if (attribute != FunctionMaxDynamicShared)
                  return CUDA_SUCCESS; // a hint
                int most = deviceAttribute(MaxSharedMemoryPerBlockOptin);
                if (value < 0 || value > most)
                  return CUDA_ERROR_INVALID_VALUE;
                function->maxDynamicShared = value;
                return CUDA_SUCCESS;
              });
}

MP_EXPORT CUresult cuFuncGetAttribute(int *value, int attribute,
                                      CUfunction function) {
  return call("cuFuncGetAttribute", format("name=%s", function->entry->name),
              [&] {
                switch (attribute) {
                case FunctionMaxThreadsPerBlock:
                  *value = 1024;
                  break;
                case FunctionMaxDynamicShared:
                  *value = function->maxDynamicShared;
                  break;
                case FunctionPtxVersion:
                case FunctionBinaryVersion:
                  *value = claimedArch();
                  break;
                default: // nothing static, and no registers to count
                  *value = 0;
                }
                return CUDA_SUCCESS;
              });
}

static int blocksOfMultiprocessor(int threads, size_t shared) {
  // The driver reserves 1 KiB of each block's memory for itself.
  size_t byShared =
      deviceAttribute(MaxSharedMemoryPerMultiprocessor) / (shared + 1024);
  return static_cast<int>(std::min<size_t>({32, 2048u / threads, byShared}));
}

namespace mp::emulator {
uint64_t mostBlocksAtOnce(unsigned threads, size_t shared) {
  return uint64_t{1} * deviceAttribute(MultiprocessorCount) *
         blocksOfMultiprocessor(static_cast<int>(threads), shared);
}
} // namespace mp::emulator

MP_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, CUfunction function, int blockSize, size_t shared) {
  return call("cuOccupancyMaxActiveBlocksPerMultiprocessor",
              format("name=%s", function->entry->name), [&] {
                if (blockSize <= 0 || blockSize > 1024)
                  return CUDA_ERROR_INVALID_VALUE;
                *blocks = blocksOfMultiprocessor(blockSize, shared);
                return CUDA_SUCCESS;
              });
}

MP_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX,
                                  unsigned gridY, unsigned gridZ,
                                  unsigned blockX, unsigned blockY,
                                  unsigned blockZ, unsigned shared,
                                  CUstream handle, void **parameters,
                                  void **extra) {
  return callOn(
      handle, "cuLaunchKernel", format("name=%s", function->entry->name),
      [&](const std::shared_ptr<Stream> &stream) {
        Launch launch;
        CUresult error = extra ? CUDA_ERROR_INVALID_VALUE
                               : makeLaunch(function, {gridX, gridY, gridZ},
                                            {blockX, blockY, blockZ}, shared,
                                            parameters, &launch);
        if (error != CUDA_SUCCESS)
          return error;
        return submit(stream, [launch] { return runGrid(launch); });
      });
}

MP_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes,
                                        CUmodule module, const char *name) {
  return callModule("cuModuleGetGlobal", format("name=%s", name), module, [&] {
    void *symbol = dlsym(module->object, name);
    Dl_info info;
    const ElfW(Sym) *entry = nullptr;
    if (!symbol || !dladdr1(symbol, &info, (void **)&entry, RTLD_DL_SYMENT) ||
        !entry)
      return CUDA_ERROR_NOT_FOUND;
    if (address)
      *address = reinterpret_cast<CUdeviceptr>(symbol);
    if (bytes)
      *bytes = entry->st_size;
    return CUDA_SUCCESS;
  });
}
