//===- LayoutShape.h - moves of elements, for any target --------*- C++ -*-===//
//
// The ops of dialect/ops/Layout.td in the fewest dimensions. Tensors are dense
// and row-major, and dimensions that are adjacent in both of them are merged
// into one.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_STAGES_LAYOUTSHAPE_H
#define MP_CODEGEN_STAGES_LAYOUTSHAPE_H

#include "dialect/ops/Layout.h"

namespace mp {

/// Elements that are copied from a tensor into another. Dimensions are
/// outermost first; there is at least one, and none has the size one unless it
/// is the only one.
struct BoxCopy {
  struct Dim {
    int64_t size, from, to; ///< the distance of neighbours in each tensor
  };
  llvm::SmallVector<Dim> dims;
  int64_t from = 0, to = 0; ///< the first element's places

  int64_t elements() const;
  /// Whether the elements of the last dimension are neighbours in both.
  bool isContiguous() const {
    return dims.back().from == 1 && dims.back().to == 1;
  }
};
BoxCopy boxOf(SliceOp op);
/// One for each operand.
llvm::SmallVector<BoxCopy> boxesOf(ConcatOp op);

/// A tensor inside another one, with padding elsewhere. Dimensions are
/// outermost first; there is at least one.
struct PaddedBox {
  struct Dim {
    int64_t size;      ///< of the result
    int64_t low, step; ///< the place of the operand's first element, and the
                       ///< distance of its elements
    int64_t count;     ///< of the operand
    /// The elements from the operand's first to its last, both included.
    int64_t span() const { return count ? (count - 1) * step + 1 : 0; }
  };
  llvm::SmallVector<Dim> dims;
  /// An element of padding, as bits.
  uint64_t value = 0;
};
PaddedBox paddedBoxOf(PadOp op);

/// Rows by number: the long tensor is [outer, rows, inner], and the one that
/// has a row for each index is [outer, count, inner]. The indices are [count],
/// or [outer, count].
struct NumberedRows {
  int64_t outer = 1, rows = 1, count = 1, inner = 1;
  bool batched = false;
};
NumberedRows rowsOf(GatherOp op);
NumberedRows rowsOf(ScatterAddOp op);
NumberedRows rowsOf(ScatterRowsOp op);

/// Sums along the middle of [outer, size, inner].
struct RunningSum {
  int64_t outer = 1, size = 1, inner = 1;
  bool reverse = false;
};
RunningSum sumOf(CumsumOp op);

} // namespace mp

#endif // MP_CODEGEN_STAGES_LAYOUTSHAPE_H
