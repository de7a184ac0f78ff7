//===- NarrowActivation.h - activations for results of 16 bits --*- C++ -*-===//
//
// Formulas on scalars of f32 whose results, rounded to 16 bits, are within one
// unit in the last place of the exact ones for every operand of 16 bits. They
// do not cancel or underflow where the usual formulas do (1 + erf of large
// negative numbers, 1 / (1 + e^89)), and take shorter polynomials. At infinity
// they give the limit.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_OPS_NARROWACTIVATION_H
#define MP_DIALECT_OPS_NARROWACTIVATION_H

#include "dialect/Accuracy.h"

namespace mp {

/// 1 / (1 + e^-x).
Expression narrowSigmoid(Expression x, mlir::Type type);
/// x / (1 + e^-x), and its derivative.
Expression narrowSilu(Expression x, mlir::Type type);
Expression narrowSiluSlope(Expression x);

/// x Phi(x) with the normal distribution function Phi, and its derivative.
Expression narrowGelu(Expression x, mlir::Type type);
Expression narrowGeluSlope(Expression x, mlir::Type type);
/// x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3), and its derivative.
Expression narrowTanhGelu(Expression x, mlir::Type type);
Expression narrowTanhGeluSlope(Expression x);

} // namespace mp

#endif // MP_DIALECT_OPS_NARROWACTIVATION_H
