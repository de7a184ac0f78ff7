//===- CastPlacement.h - fewer and smaller casts of the same bits ---------===//
#ifndef MP_PASSES_AUTOCAST_CASTPLACEMENT_H
#define MP_PASSES_AUTOCAST_CASTPLACEMENT_H

#include "dialect/Mp.h"

namespace mp {

/// Casts between floats, and the bytes that they read and write. A batch whose
/// size is not known counts as one row.
struct CastCost {
  int64_t casts = 0, bytes = 0;

  CastCost &operator+=(CastCost other) {
    casts += other.casts;
    bytes += other.bytes;
    return *this;
  }
  /// Compares by bytes, and if these are equal by casts.
  auto operator<=>(const CastCost &other) const {
    return std::tie(bytes, casts) <=> std::tie(other.bytes, other.casts);
  }
  bool operator==(const CastCost &) const = default;
};

/// Returns the cost of all casts between floats in a function.
CastCost costOfCasts(mlir::func::FuncOp function);

/// Moves, merges and removes casts of a function of one block, without changing
/// a bit of its results and writes.
void placeCasts(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_CASTPLACEMENT_H
