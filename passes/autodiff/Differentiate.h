//===- Differentiate.h - the backward of a value in a function ------------===//
#ifndef MP_PASSES_AUTODIFF_DIFFERENTIATE_H
#define MP_PASSES_AUTODIFF_DIFFERENTIATE_H

#include "dialect/ops/Loop.h"
#include "passes/analysis/BackwardOps.h"

namespace mp {

/// The forward op of an op that `mp.gradient` expanded to, and the place of
/// that `mp.gradient`.
struct GradientOrigin {
  mlir::OperationName forward;
  mlir::Location asked;
};
using GradientOrigins = llvm::DenseMap<mlir::Operation *, GradientOrigin>;

/// Reverse mode over the one block of a function.
class Differentiator {
public:
  /// `sources` are the values whose gradients are wanted. `origins` has the
  /// `mp.gradient` that ops of the function come from, for errors.
  Differentiator(mlir::func::FuncOp function,
                 llvm::ArrayRef<mlir::Value> sources,
                 const GradientOrigins &origins);

  /// Builds the backward of `root` before `end`, for the ops before `end`. It
  /// begins with `seed`.
  llvm::LogicalResult run(mlir::Value root, mlir::Value seed,
                          mlir::Operation *end);

  /// The same for several values, each with its seed.
  llvm::LogicalResult
  run(llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> seeds,
      mlir::Operation *end);

  /// Returns the gradient that arrived at a value, or null.
  mlir::Value gradientOf(mlir::Value value) const {
    return gradients.lookup(value);
  }

  /// Called for each op that is built from now on, with the op that it is the
  /// backward of.
  std::function<void(mlir::Operation *built, mlir::Operation *forward)> onBuilt;

private:
  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult visitLoop(LoopOp loop,
                                llvm::ArrayRef<mlir::Value> arrived);
  llvm::LogicalResult refuse(mlir::Operation *op, llvm::StringRef why) const;
  bool isWanted(mlir::Value value) const {
    return active.contains(value) && isFloatTensor(value);
  }
  void accumulate(mlir::Value operand, mlir::Value gradient);

  mlir::func::FuncOp function;
  const GradientOrigins &origins;
  mlir::ImplicitLocOpBuilder builder;
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

/// Fails, with an error, if a function is not straight-line code or has a shape
/// that is not known: sums over a batch need its size.
llvm::LogicalResult checkDifferentiable(mlir::func::FuncOp function);

/// Replaces every `mp.gradient` of the function, in order, and adds the ops of
/// its expansion to `origins`. Errors: an op without a gradient, a source that
/// the number does not depend on.
llvm::LogicalResult expandGradients(mlir::func::FuncOp function,
                                    GradientOrigins &origins);

/// Erases `mp.scale_gradient`, which has no meaning once the function has its
/// backward.
void dropScaleGradients(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_AUTODIFF_DIFFERENTIATE_H
