//===- Rows.h - which rows a row is computed from ---------------*- C++ -*-===//
//
// A row is what a tensor has at one index of a dimension: the token at a place
// of a text, the sample of a batch. An op works row by row along a dimension if
// row i of its result is computed from row i of its operands alone, so that it
// may be computed for some of the rows.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_ROWS_H
#define MP_DIALECT_ROWS_H

#include "dialect/Mp.h"

namespace mp {

/// Returns for each result of an op the dimension whose row i is computed from
/// row i of dimension `dim` of an operand, and from no other of its rows.
/// Returns nullopt if a result mixes rows or has none, or if no rule is known.
std::optional<llvm::SmallVector<int64_t, 2>>
followRows(mlir::Operation *op, unsigned operand, int64_t dim);

} // namespace mp

#endif // MP_DIALECT_ROWS_H
