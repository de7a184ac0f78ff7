//===- Gradients.h - what passes ask of a step's gradients ----------------===//
#ifndef MP_PASSES_ANALYSIS_GRADIENTS_H
#define MP_PASSES_ANALYSIS_GRADIENTS_H

#include "dialect/ops/Optimizer.h"
#include "dialect/ops/Scaling.h"

namespace mp {

/// The sum of the squares of all elements, in f32.
mlir::Value sumOfSquares(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

/// The 2-norm of tensors together, from the sums of their squares.
mlir::Value normOf(mlir::ImplicitLocOpBuilder &builder,
                   llvm::ArrayRef<mlir::Value> squares);

/// Where the loss scale comes into a value, unless it is divided out again;
/// null where it does not.
ScaleOp findScaling(mlir::Value value);

/// What makes a value: "mp.linear"; of what a parameter holds, and of its copy
/// in another type, "@fc1.weight".
std::string originOf(mlir::Value value);

/// The factor by which mp-clip-gradients multiplied a gradient, or null.
ClipFactorOp clippingOf(mlir::Value gradient);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_GRADIENTS_H
