//===- GradientPaths.h - where a loss's gradient arrives --------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_GRADIENTPATHS_H
#define MP_PASSES_ANALYSIS_GRADIENTPATHS_H

#include "dialect/Mp.h"

namespace mp {

/// Finds the values of a function that would get a gradient, without building
/// backward: shapes may have a `?`, and ops without a gradient are skipped.
class GradientPaths {
public:
  GradientPaths(mlir::func::FuncOp function, mlir::Value loss);

  bool reaches(mlir::Value value) const { return reached.contains(value); }

  struct Cut {
    mlir::Operation *op;
    std::string why;
  };
  /// Returns the ops that keep the gradient from the values that depend on
  /// `value`; none if the loss does not depend on it.
  llvm::SmallVector<Cut> cutsBehind(mlir::Value value);

private:
  void visit(mlir::Operation *op);

  mlir::func::FuncOp function;
  llvm::DenseSet<mlir::Value> reached;
};

/// Returns whether a gradient with respect to the value is asked for: what is
/// computed from it has to be computed from it, not from another value that has
/// the same bits.
bool isGradientSource(mlir::Value value);

/// Returns all values that are computed from `sources`, these included.
llvm::DenseSet<mlir::Value> dependents(llvm::ArrayRef<mlir::Value> sources,
                                       mlir::Block &block);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_GRADIENTPATHS_H
