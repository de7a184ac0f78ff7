//===- ResourceUsage.h - what a kernel takes of a multiprocessor ----------===//
#ifndef MP_RUNTIME_CUDA_RESOURCEUSAGE_H
#define MP_RUNTIME_CUDA_RESOURCEUSAGE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mp::cuda {

/// What ptxas says of one function, with --ptxas-options=-v.
struct ResourceUsage {
  std::string function;
  unsigned registers = 0;   ///< a thread; 0 for what is not a kernel
  unsigned stackBytes = 0;  ///< a thread, in local memory
  unsigned spillBytes = 0;  ///< stored and loaded
  unsigned sharedBytes = 0; ///< static, a block
};

/// Reads the compiler's log, whatever else it says. Functions that kernels call
/// have entries too.
std::vector<ResourceUsage> parseResourceUsage(llvm::StringRef log);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_RESOURCEUSAGE_H
