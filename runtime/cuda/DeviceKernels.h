//===- DeviceKernels.h - kernels compiled and loaded onto a device --------===//
#ifndef MP_RUNTIME_CUDA_DEVICEKERNELS_H
#define MP_RUNTIME_CUDA_DEVICEKERNELS_H

#include "runtime/cuda/CompilePool.h"
#include "runtime/cuda/CudaDevice.h"

namespace mp::cuda {

class DeviceKernels {
public:
  DeviceKernels(const DeviceContext &context, std::unique_ptr<CompilePool> pool)
      : context(context), pool(std::move(pool)) {}

  /// Compiles and loads new kernels, and allows each the shared memory that its
  /// launches need. Errors: the compiler or the driver rejects a kernel, a
  /// launch exceeds a limit of the device.
  llvm::Error load(const Program &program);
  /// The function of a loaded kernel; null: there is none.
  Function find(llvm::StringRef symbol) const {
    auto found = loaded.find(symbol);
    return found == loaded.end() ? nullptr : found->second.function;
  }

  std::unique_ptr<KernelSink> sink() { return pool->sink(); }
  const std::string &architecture() const { return pool->architecture; }
  CompileCounts counts() const { return pool->counts(); }

private:
  struct Loaded {
    OwnedModule module;
    Function function = nullptr;
    uint64_t sharedBytes = 0; ///< that it may be launched with
  };

  llvm::Expected<Loaded> loadOne(const Kernel &kernel);
  llvm::Error checkLaunch(const Launch &launch, const Kernel &kernel) const;
  llvm::Error allowShared(Loaded &kernel, uint64_t bytes);

  const DeviceContext &context;
  std::unique_ptr<CompilePool> pool;
  llvm::StringMap<Loaded> loaded;
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_DEVICEKERNELS_H
