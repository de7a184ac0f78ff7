//===- Float8.h - 8-bit floats as plain arithmetic --------------*- C++ -*-===//
#ifndef MP_PASSES_KERNELS_FLOAT8_H
#define MP_PASSES_KERNELS_FLOAT8_H

#include "mlir/IR/Operation.h"

namespace mp {

/// Returns the value of `op` if it extends f8E4M3FN or f8E5M2 to f32, or rounds
/// f32 to one of them, as integer arithmetic, on scalars or vectors; else null.
/// The targets' own conversions do not round as APFloat does: they saturate.
mlir::Value expandFloat8(mlir::Operation &op);

} // namespace mp

#endif // MP_PASSES_KERNELS_FLOAT8_H
