//===- RankParts.h - tensors of which each rank has a part ------*- C++ -*-===//
#ifndef MP_PASSES_STEP_RANKPARTS_H
#define MP_PASSES_STEP_RANKPARTS_H

#include "mlir/IR/IRMapping.h"
#include "passes/step/Exchange.h"

namespace mp {

/// The parts of a function's tensors: of the elements in order, padded with
/// zeros to as many for each rank, rank r has the r-th.
class RankParts {
public:
  RankParts(mlir::func::FuncOp function, int64_t ranks)
      : function(function), ranks(ranks) {}

  /// Returns the type of a part.
  static mlir::RankedTensorType typeOf(mlir::RankedTensorType whole,
                                       int64_t ranks);

  mlir::RankedTensorType typeOf(mlir::RankedTensorType whole) const {
    return typeOf(whole, ranks);
  }

  /// Says that `part` is this rank's part of `whole`.
  void add(mlir::Value whole, mlir::Value part) { parts[whole] = part; }
  bool isKnown(mlir::Value whole) const { return parts.contains(whole); }
  /// Returns the part of a tensor, which is taken out of it before `user` if it
  /// is not known.
  mlir::Value of(mlir::Value whole, mlir::Operation *user);
  /// Returns the tensor whose part is known, gathered from all ranks.
  mlir::Value whole(mlir::Value value);
  /// Returns a known part with the smallest value, or false, in the place of
  /// padding.
  mlir::Value withoutPadding(mlir::Value whole, mlir::Operation *user);

private:
  mlir::Value rank();
  mlir::Value divided(mlir::ImplicitLocOpBuilder &b, mlir::Value whole);

  mlir::func::FuncOp function;
  int64_t ranks;
  mlir::Value ownRank;
  llvm::DenseMap<mlir::Value, mlir::Value> parts, wholes;
};

} // namespace mp

#endif // MP_PASSES_STEP_RANKPARTS_H
