//===- KernelStore.h - the CUDA sources of a compilation --------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_KERNELSTORE_H
#define MP_CODEGEN_CUDA_KERNELSTORE_H

#include "codegen/Program.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

namespace mp::cuda {

/// Sources of kernels by symbol. Thread-safe.
class KernelStore {
public:
  /// The placeholder of a kernel's name in a source.
  static constexpr llvm::StringLiteral name = "KERNEL_NAME";

  /// Keeps a source in which the kernel is called `name`; equal sources are
  /// kept once. Returns the symbol, "k_" and a hash of the source.
  std::string add(llvm::StringRef source);
  /// The source of a symbol that `add` returned.
  llvm::StringRef source(llvm::StringRef symbol) const;

private:
  mutable std::mutex mutex;
  llvm::StringMap<std::string> sources;
};

/// The headers that sources include.
std::vector<Header> kernelHeaders();

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_KERNELSTORE_H
