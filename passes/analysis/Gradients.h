//===- Gradients.h - a step's gradients -----------------------------------===//
#ifndef MP_PASSES_ANALYSIS_GRADIENTS_H
#define MP_PASSES_ANALYSIS_GRADIENTS_H

#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Optimizer.h"

namespace mp {

/// Returns the indices of the rows that a parameter's gradient consists of;
/// null if it is whole.
mlir::OpOperand *rowsOfGradient(mlir::func::FuncOp step,
                                llvm::StringRef parameter);
/// Fails, with an error at the gradient, if a step has a gradient of rows,
/// which is only for steps of one batch: `why` ends the sentence.
llvm::LogicalResult refuseGradientsOfRows(mlir::func::FuncOp step,
                                          llvm::StringRef why);

/// Returns the sum of the squares of all elements, in f32.
mlir::Value sumOfSquares(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

/// Returns the 2-norm of tensors together, from the sums of their squares.
mlir::Value normOf(mlir::ImplicitLocOpBuilder &builder,
                   llvm::ArrayRef<mlir::Value> squares);

/// Returns the op that multiplies the loss scale into a value, unless it is
/// divided out again; null if there is none.
ScaleOp findScaling(mlir::Value value);

/// Returns the name of a value's maker: "mp.linear"; for a parameter and its
/// copy in another type, "@fc1.weight".
std::string originOf(mlir::Value value);

/// Returns the factor by which mp-clip-gradients multiplied a gradient, or
/// null.
ClipFactorOp clippingOf(mlir::Value gradient);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_GRADIENTS_H
