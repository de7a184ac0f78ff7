//===- GradientPaths.h - where a loss's gradient arrives --------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_GRADIENTPATHS_H
#define MP_PASSES_ANALYSIS_GRADIENTPATHS_H

#include "dialect/Mp.h"

namespace mp {

/// Which values of a function backward would give a gradient, without building
/// it: shapes may have a `?`, and ops that have no gradient are passed by.
class GradientPaths {
public:
  GradientPaths(mlir::func::FuncOp function, mlir::Value loss);

  bool reaches(mlir::Value value) const { return reached.contains(value); }

  struct Cut {
    mlir::Operation *op;
    std::string why;
  };
  /// The ops that keep the gradient from what depends on a value; none where
  /// the loss does not depend on it.
  llvm::SmallVector<Cut> cutsBehind(mlir::Value value);

private:
  void visit(mlir::Operation *op);

  mlir::func::FuncOp function;
  llvm::DenseSet<mlir::Value> reached;
};

/// All values that are computed from some, these included.
llvm::DenseSet<mlir::Value> dependents(llvm::ArrayRef<mlir::Value> sources,
                                       mlir::Block &block);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_GRADIENTPATHS_H
