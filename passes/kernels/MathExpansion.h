//===- MathExpansion.h - f32 functions as plain arithmetic ------*- C++ -*-===//
#ifndef MP_PASSES_KERNELS_MATHEXPANSION_H
#define MP_PASSES_KERNELS_MATHEXPANSION_H

#include "mlir/IR/Operation.h"

namespace mp {

/// Rewrites the math functions of f32 below `root` (scalars and vectors) as
/// arith operations and `math.fma`, without branches, so that every target runs
/// the same operations and gets the same bits: exp, exp2, expm1, log, log1p,
/// powf, tanh, erf, sin, cos, rsqrt and floor. What is an instruction
/// everywhere (sqrt, absf, copysign, fma) and other element types stay.
/// Conversions from and to 8-bit floats become integer arithmetic.
///
/// An exp that says what its result is rounded to (dialect/Accuracy.h) is as
/// exact as stated there. Over all other finite inputs the results differ from
/// the exact ones by at most 2 ulp (exp, exp2, log, powf, sin, cos, rsqrt) or 3
/// ulp (expm1, log1p, tanh, erf), subnormal inputs and results included; floor
/// is exact. NaN gives NaN; infinities, zeros and their signs give what C's
/// functions give.
void expandMath(mlir::Operation *root);

} // namespace mp

#endif // MP_PASSES_KERNELS_MATHEXPANSION_H
