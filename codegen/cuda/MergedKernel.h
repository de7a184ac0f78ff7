//===- MergedKernel.h - the source of one kernel for many -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_MERGEDKERNEL_H
#define MP_CODEGEN_CUDA_MERGEDKERNEL_H

#include "codegen/cuda/KernelStore.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mp::cuda {

/// Whether a kernel of parts in all of which `a` is one may have `b` as well,
/// as far as threads go: a part of one warp waits for no other, so that the
/// surplus threads of a larger block may leave it.
bool fitTogether(const StagePart &a, const StagePart &b);

/// A kernel that does the work of several parts, each in blocks of its own. It
/// reads its addresses from a table; which block does what is in its source,
/// and parts that have one text share it.
struct MergedKernel {
  explicit MergedKernel(llvm::ArrayRef<const StagePart *> parts);

  /// With the placeholder of its name.
  std::string source;
  int64_t grid = 0, block = 1;
  uint64_t shared = 0;
  /// Of which part the addresses come first in the table, and so on.
  llvm::SmallVector<size_t> order;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_MERGEDKERNEL_H
