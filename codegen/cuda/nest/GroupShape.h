//===- GroupShape.h - how threads share a group -----------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_NEST_GROUPSHAPE_H
#define MP_CODEGEN_CUDA_NEST_GROUPSHAPE_H

#include "codegen/cuda/Arch.h"
#include "codegen/stages/StageGroup.h"

namespace mp::cuda {

/// How a group is spread over threads; its shapes and types alone decide this.
struct GroupShape {
  GroupShape(const StageGroup &group, const Arch &arch);

  /// Rows, Whole: threads that share a row, 32 or the whole block. Columns:
  /// columns that a block computes at a time.
  int64_t across = 1;
  /// Rows, Columns: rows that a block computes at a time.
  int64_t down = 1;
  /// Neighbouring elements that a thread takes in one go. Divides a row.
  int64_t width = 1;
  /// The number of steps in which the threads of a row reach its end.
  int64_t steps = 1;
  /// Whether the steps are unrolled, and arrays of a thread's elements are
  /// registers.
  bool unrolled = false;
  /// The values that several passes read, and that are kept for this (only if
  /// unrolled).
  llvm::DenseSet<mlir::Value> kept;
  /// Whether there is one pass over a line, as in Flat and a simple Whole:
  /// threads take any elements of it, and the text is the same for any number
  /// of these.
  bool onePass = false;

  int64_t threads() const { return across * down; }
};

/// Whether the stage is a row of sums in memory, to which each row is added.
inline bool isRowOfSums(const StageGroup &group, const Stage &stage) {
  return stage.terminal && group.role(stage.result) != Role::Global;
}

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_NEST_GROUPSHAPE_H
