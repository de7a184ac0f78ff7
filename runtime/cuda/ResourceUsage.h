//===- ResourceUsage.h - multiprocessor resources of a kernel -------------===//
#ifndef MP_RUNTIME_CUDA_RESOURCEUSAGE_H
#define MP_RUNTIME_CUDA_RESOURCEUSAGE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mp::cuda {

/// What ptxas reports of one function with --ptxas-options=-v.
struct ResourceUsage {
  std::string function;
  unsigned registers = 0; ///< per thread; 0 for a function that is not a kernel
  unsigned stackBytes = 0;  ///< per thread, in local memory
  unsigned spillBytes = 0;  ///< stored and loaded
  unsigned sharedBytes = 0; ///< static, per block
};

/// Reads the compiler's log and ignores its other lines. Functions that kernels
/// call have entries too.
std::vector<ResourceUsage> parseResourceUsage(llvm::StringRef log);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_RESOURCEUSAGE_H
