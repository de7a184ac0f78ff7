//===- Alone.h - an op apart from its function ------------------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_ALONE_H
#define MP_PASSES_ANALYSIS_ALONE_H

#include "dialect/Mp.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

/// A copy of an op in a block of its own, for asking what it is made of. Its
/// operands are the block's arguments, one for each different value, sizes `?`
/// are bound, and what random ops get later they have.
struct Alone {
  Alone(mlir::Operation *op, int64_t batch);

  /// Behind the copy's operands, before the copy.
  mlir::ImplicitLocOpBuilder builder();

  std::unique_ptr<mlir::Block> block;
  llvm::MapVector<mlir::Value, mlir::Value> arguments; ///< of operands
  mlir::Operation *copy;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_ALONE_H
