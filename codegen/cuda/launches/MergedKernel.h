//===- MergedKernel.h - the source of one kernel for many -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_LAUNCHES_MERGEDKERNEL_H
#define MP_CODEGEN_CUDA_LAUNCHES_MERGEDKERNEL_H

#include "codegen/cuda/KernelStore.h"
#include "codegen/plan/EntryPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mp::cuda {

/// Whether the threads of `b` fit a kernel that consists of parts like `a`: a
/// part of one warp does not synchronise, so the surplus threads of a larger
/// block may leave it.
bool fitTogether(const StagePart &a, const StagePart &b);

/// A kernel that does the work of several parts, each in blocks of its own. It
/// reads its addresses from a table. Its source tells which blocks do which
/// part, and parts with the same text share it.
struct MergedKernel {
  explicit MergedKernel(llvm::ArrayRef<const StagePart *> parts);

  /// The source, with the placeholder of its name.
  std::string source;
  int64_t grid = 0, block = 1, resident = 1;
  uint64_t shared = 0;
  /// The parts in the order of their addresses in the table.
  llvm::SmallVector<size_t> order;
};

/// Adds a kernel to the program that does the work of others, of which `parts`
/// are the numbers. Returns its number.
uint32_t addMerged(const std::string &source, llvm::ArrayRef<uint32_t> parts,
                   ProgramBuilder &builder, KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_LAUNCHES_MERGEDKERNEL_H
