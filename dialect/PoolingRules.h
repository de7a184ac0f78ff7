//===- PoolingRules.h - which elements a place of a pool has ----*- C++ -*-===//
#ifndef MP_DIALECT_POOLINGRULES_H
#define MP_DIALECT_POOLINGRULES_H

#include "dialect/WindowRules.h"

namespace mp {

/// The places of a pool along one dimension: those of a window that slides, or
/// the bins of an adaptive pool, which split the elements as evenly as they can
/// and overlap where they must. The elements of a place are its taps, numbered
/// from its first on, which may lie in the padding.
struct PoolDim {
  int64_t elements = 1, places = 1;
  WindowDim window;
  bool isAdaptive = false; ///< bins of different sizes, without a window

  /// The most taps of a place.
  int64_t taps() const;
  /// The most places that an element belongs to.
  int64_t covers() const;
  /// The taps of a place that count in its mean: those among the elements and,
  /// if it counts padding, in the padding.
  int64_t counted(int64_t place, bool countsPadding) const;
  /// What every place counts, or 0 if they differ.
  int64_t countedByAll(bool countsPadding) const;
};
/// Height and width.
using PoolDims = std::array<PoolDim, 2>;

/// The lists of a pool; bins have none.
struct PoolLists {
  WindowList window, strides, low, high, dilations;
};
/// Those of an op or its adaptor.
template <typename Op> PoolLists poolListsOf(Op &op) {
  PoolLists lists;
  if constexpr (requires { op.getStrides(); }) {
    lists = {op.getWindow(), op.getStrides(), op.getLow(), op.getHigh(), {}};
    if constexpr (requires { op.getDilations(); })
      lists.dilations = op.getDilations();
  }
  return lists;
}

/// The number of places of a window. By `ceilMode`, a window that begins within
/// the elements or before them may end after the padding.
int64_t countPlaces(const WindowDim &window, int64_t elements, bool ceilMode);

/// Fails, with the numbers that disagree, if no pool maps a height and width of
/// `elements` by these lists, or if it has no place.
llvm::FailureOr<PoolDims> makePool(std::optional<mlir::Location> location,
                                   llvm::ArrayRef<int64_t> elements,
                                   const PoolLists &lists, bool ceilMode);
/// The pool from `elements` to `places`: bins if there is no window.
llvm::FailureOr<PoolDims> makePool(std::optional<mlir::Location> location,
                                   llvm::ArrayRef<int64_t> elements,
                                   llvm::ArrayRef<int64_t> places,
                                   const PoolLists &lists);

/// Height and width of images.
inline llvm::ArrayRef<int64_t> middleOf(mlir::RankedTensorType images) {
  return images.getShape().slice(1, 2);
}

/// Images with another height and width.
mlir::RankedTensorType resized(mlir::RankedTensorType images,
                               llvm::ArrayRef<int64_t> size);

/// Fails unless `size`, called `name`, is a height and a width.
llvm::LogicalResult checkSize(std::optional<mlir::Location> location,
                              llvm::StringRef name,
                              llvm::ArrayRef<int64_t> size);

/// What an op that a loop computes becomes if it cannot: zeros if it has no
/// element, and the op in f32 for 8-bit floats.
template <typename Op>
mlir::Value withoutImageLoop(mlir::ImplicitLocOpBuilder &b, Op op) {
  mlir::Value first = op->getOperand(0);
  if (llvm::is_contained(tensorType(first).getShape(), 0))
    return splat(b, op.getType(), 0);
  if (!mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(
          elementType(first)))
    return {};
  llvm::SmallVector<mlir::Value> operands(op->getOperands());
  operands[0] = castTo(b, first, b.getF32Type());
  return castTo(b, Op::create(b, operands, op->getAttrs()),
                op.getType().getElementType());
}

} // namespace mp

#endif // MP_DIALECT_POOLINGRULES_H
