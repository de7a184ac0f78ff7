//===- SortShape.h - sorted rows, for any target ----------------*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_SORTSHAPE_H
#define MP_CODEGEN_STAGES_SORTSHAPE_H

#include "dialect/ops/Sort.h"

namespace mp {

/// The first `kept` indices, in sorted order, of each of `rows` rows.
struct SortedRows {
  int64_t rows = 1, size = 1, kept = 1;
  bool descending = false;
};

inline SortedRows sortedRowsOf(ArgsortOp op) {
  auto shape = op.getInput().getType().getShape();
  return {llvm::product_of(shape.drop_back()), shape.back(),
          op.getType().getShape().back(), op.getDescending()};
}

} // namespace mp

#endif // MP_CODEGEN_STAGES_SORTSHAPE_H
