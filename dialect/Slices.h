//===- Slices.h - a range of the indices of a dimension ---------*- C++ -*-===//
#ifndef MP_DIALECT_SLICES_H
#define MP_DIALECT_SLICES_H

#include "dialect/ops/Layout.h"

namespace mp {

/// Returns what a value has at `size` indices of a dimension, from `begin` on.
inline mlir::Value sliceAlong(mlir::ImplicitLocOpBuilder &builder,
                              mlir::Value value, int64_t dim, int64_t begin,
                              int64_t size) {
  unsigned rank = tensorType(value).getRank();
  llvm::SmallVector<int64_t> offsets(rank, 0), sizes(rank, -1);
  offsets[dim] = begin;
  sizes[dim] = size;
  return SliceOp::create(builder, value, offsets, sizes,
                         /*strides=*/mlir::DenseI64ArrayAttr());
}

} // namespace mp

#endif // MP_DIALECT_SLICES_H
