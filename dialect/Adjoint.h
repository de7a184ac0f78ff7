//===- Adjoint.h - steps of reverse mode that rules share -----------------===//
#ifndef MP_DIALECT_ADJOINT_H
#define MP_DIALECT_ADJOINT_H

#include "dialect/Mp.h"

namespace mp {

/// A gradient summed over the dimensions along which a value of `type` was
/// broadcast.
mlir::Value sumTo(mlir::ImplicitLocOpBuilder &builder, mlir::Value gradient,
                  mlir::RankedTensorType type);

/// The adjoint of a composite op from the adjoints of its parts: decomposes the
/// op at the builder's place and goes back through what that makes, all of it
/// in the compute type. Right for ops whose parts have gradients that neither
/// cancel nor overflow. What the forward computes too is computed once: fusion
/// merges equal parts.
llvm::SmallVector<mlir::Value>
differentiateParts(DecomposableOpInterface op,
                   mlir::ImplicitLocOpBuilder &builder,
                   mlir::ValueRange gradients);

} // namespace mp

#endif // MP_DIALECT_ADJOINT_H
