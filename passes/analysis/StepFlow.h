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
  /// Returns the checks of the gradients that a value is computed from.
  llvm::SetVector<UnscaleAndCheckOp> checksOf(mlir::Value value) const;
  /// Returns the reads that a value is computed from beside gradients, and
  /// beside the keys of random numbers.
  llvm::SetVector<mp::ReadOp> readsOf(mlir::Value value) const;
  /// Returns the values that a flag is the `or` of; if one of them is a
  /// window's, also those that micro-batches made it of.
  const llvm::SetVector<mlir::Value> &partsOf(mlir::Value flag);
  /// Whether the flag is set whenever the check finds something.
  bool sets(UnscaleAndCheckOp check, mlir::Value flag) {
    return partsOf(flag).contains(check.getFoundInf());
  }

private:
  void walk(mlir::Value root,
            llvm::function_ref<void(mlir::Operation *)> visit) const;
  /// Returns the value that micro-batches leave in the variable that is read,
  /// or null.
  mlir::Value gathered(mp::ReadOp read) const;

  llvm::SmallVector<UnscaleAndCheckOp> all;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> left; ///< by micro-batches
  llvm::DenseMap<mlir::Value, llvm::SetVector<mlir::Value>> parts;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_STEPFLOW_H
