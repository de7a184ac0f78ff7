//===- RankFlow.h - values that differ between ranks ------------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_RANKFLOW_H
#define MP_PASSES_ANALYSIS_RANKFLOW_H

#include "dialect/ops/State.h"
#include "llvm/ADT/DenseMap.h"

namespace mp {

/// Follows what each rank has for itself (its rows, its number, what its
/// micro-batches gathered) to the exchanges, whose results all ranks share.
class RankFlow {
public:
  explicit RankFlow(mlir::func::FuncOp step);

  /// Whether ranks may have different values.
  bool differs(mlir::Value value) const { return origins.contains(value); }
  /// Returns where such a value comes from: an argument, or the result of an
  /// op.
  mlir::Value originOf(mlir::Value value) const {
    return origins.lookup(value);
  }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> origins;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_RANKFLOW_H
