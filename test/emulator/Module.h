//===- Module.h - loaded kernels ------------------------------------------===//
#ifndef MP_EMULATOR_MODULE_H
#define MP_EMULATOR_MODULE_H

#include "Grid.h"

#include <memory>
#include <string>

namespace mp::emulator {

struct Kernel {
  const KernelEntry *entry = nullptr;
  Context **context = nullptr;
  unsigned maxDynamicShared = 48 << 10; // until cuFuncSetAttribute raises it
};

struct Module {
  ~Module();
  void *object = nullptr;
  std::vector<std::unique_ptr<Kernel>> kernels;
};

/// Loads an object that the emulated NVRTC made, for a device of compute
/// capability `arch` (90 for 9.0). On failure *error says why.
std::unique_ptr<Module> loadModule(const void *image, int arch,
                                   CUresult *error);

/// Returns a kernel's launch; `parameters` as in cuLaunchKernel.
CUresult makeLaunch(const Kernel *kernel, Dim3 grid, Dim3 block,
                    unsigned shared, void **parameters, Launch *launch);

} // namespace mp::emulator

#endif // MP_EMULATOR_MODULE_H
