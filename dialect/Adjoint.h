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
/// op at the builder's place and differentiates the result backwards, all in
/// the compute type. Suitable for ops whose parts have gradients that neither
/// cancel nor overflow. Parts that the forward pass computes too are computed
/// once, since fusion merges equal parts.
llvm::SmallVector<mlir::Value>
differentiateParts(DecomposableOpInterface op,
                   mlir::ImplicitLocOpBuilder &builder,
                   mlir::ValueRange gradients);

} // namespace mp

#endif // MP_DIALECT_ADJOINT_H
