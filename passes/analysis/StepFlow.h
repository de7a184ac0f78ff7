//===- StepFlow.h - data flow through a step --------------------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_STEPFLOW_H
#define MP_PASSES_ANALYSIS_STEPFLOW_H

#include "dialect/ops/LossScaling.h"
#include "dialect/ops/State.h"
#include "llvm/ADT/SetVector.h"

namespace mp {

/// Follows values of a step back to the checks of gradients. A step that
/// applies gathered gradients goes on in the function that takes the
/// micro-batches, at the values that this writes to window variables.
class StepFlow {
public:
  explicit StepFlow(mlir::func::FuncOp step);

  /// Returns all checks, those of micro-batches included.
  llvm::ArrayRef<UnscaleAndCheckOp> checks() const { return all; }
  /// Values that were followed: those behind them are not looked at again, so
  /// that many values with one set cost no more than the step has ops.
  using Seen = llvm::DenseSet<mlir::Value>;
  /// Returns the checks of the gradients that a value is computed from.
  llvm::SetVector<UnscaleAndCheckOp> checksOf(mlir::Value value,
                                              Seen &seen) const;
  /// Returns the reads that a value is computed from beside gradients, and
  /// beside the keys of random numbers.
  llvm::SetVector<mp::ReadOp> readsOf(mlir::Value value, Seen &seen) const;
  /// Whether a value is computed from a gradient that is checked.
  bool hasChecks(mlir::Value value) const;
  /// Returns the values that a flag is the `or` of; if one of them is a
  /// window's, also those that micro-batches made it of.
  const llvm::SetVector<mlir::Value> &partsOf(mlir::Value flag);
  /// Whether the flag is set whenever the check finds something.
  bool sets(UnscaleAndCheckOp check, mlir::Value flag) {
    return partsOf(flag).contains(check.getFoundInf());
  }

private:
  /// Visits the ops that a value is computed from until `visit` returns false.
  void walk(mlir::Value root, Seen &seen,
            llvm::function_ref<bool(mlir::Operation *)> visit) const;
  template <typename OpT>
  llvm::SetVector<OpT> opsBehind(mlir::Value value, Seen &seen) const;
  /// Returns the value that micro-batches leave in the variable that is read,
  /// or null.
  mlir::Value gathered(mp::ReadOp read) const;

  llvm::SmallVector<UnscaleAndCheckOp> all;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> left; ///< by micro-batches
  llvm::DenseMap<mlir::Value, llvm::SetVector<mlir::Value>> parts;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_STEPFLOW_H
