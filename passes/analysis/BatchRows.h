//===- BatchRows.h - which multiple of the batch each `?` is ----*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_BATCHROWS_H
#define MP_PASSES_ANALYSIS_BATCHROWS_H

#include "dialect/Mp.h"

namespace mp {

/// The multiples of the batch that the `?` of a module's values stand for. In
/// arguments it is the batch itself.
class BatchRows {
public:
  /// Follows the ops of all functions; an error at an op whose operands do not
  /// fit, whatever the batch.
  llvm::LogicalResult run(mlir::ModuleOp module);

  /// Returns the multiple for a value, which is nothing if it has no `?`.
  std::optional<BatchMultiple> of(mlir::Value value) const;
  /// Returns the multiples for the results of a function.
  BatchMultiples ofResults(mlir::func::FuncOp function) const {
    return returned.lookup(function);
  }

private:
  llvm::LogicalResult visit(mlir::func::FuncOp function);
  llvm::FailureOr<BatchMultiples> visitCall(mlir::func::CallOp call);

  mlir::ModuleOp module;
  llvm::DenseMap<mlir::Value, BatchMultiple> multiples; ///< of results of ops
  llvm::DenseMap<mlir::Operation *, BatchMultiples> returned;
  llvm::DenseSet<mlir::Operation *> entered;
};

} // namespace mp

#endif // MP_PASSES_ANALYSIS_BATCHROWS_H
