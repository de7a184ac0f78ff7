//===- Alone.h - an op apart from its function ------------------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_ALONE_H
#define MP_PASSES_ANALYSIS_ALONE_H

#include "dialect/Mp.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

/// A copy of an op in a block of its own, on which analyses ask its interfaces.
/// Its operands are the block's arguments, one for each different value; sizes
/// `?` are bound, and the attributes that random ops get later are set.
struct Alone {
  Alone(mlir::Operation *op, int64_t batch);

  /// Builds after the copy's operands, before the copy.
  mlir::ImplicitLocOpBuilder builder();

  std::unique_ptr<mlir::Block> block;
  llvm::MapVector<mlir::Value, mlir::Value> arguments; ///< by operand
  mlir::Operation *copy;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_ALONE_H
