//===- Accuracy.h - what a function's result is for -------------*- C++ -*-===//
//
// A result that is rounded to 16 bits needs no function that is exact to 24.
// Only the op that is computed knows whether its parts may be inexact: a
// difference of two nearly equal values may not. So it says so, in attributes
// of the parts, which the expansion of functions (passes/kernels/
// MathExpansion.h) and the emitters of kernels read. All targets do what they
// say, and get the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_ACCURACY_H
#define MP_DIALECT_ACCURACY_H

#include "dialect/Expression.h"

namespace mp {

/// On `mp.exp`, `math.exp` and `math.exp2` in f32: bf16 or f16, to which the
/// result is rounded in the end. The error is then at most 2^-13 or 2^-17 of
/// the result, and 1 is the exponential of 0.
inline constexpr llvm::StringLiteral kRoundsToAttr = "mp.rounds_to";
/// On `mp.exp` and `math.exp`: an ExpArgument, as an integer.
inline constexpr llvm::StringLiteral kArgumentAttr = "mp.argument";
/// On `mp.max` and its combiner: with a NaN among the elements, any value will
/// do, because the NaN reaches the result of the whole on another way.
inline constexpr llvm::StringLiteral kAnyWithNaNAttr = "mp.any_with_nan";

/// What is known of the argument of an exponential that is not NaN.
enum class ExpArgument {
  Any,
  NotPositive, ///< at most 0
  Small        ///< from -104 to 0
};

/// bf16 or f16.
bool isNarrowFloat(mlir::Type type);

/// e^x for a result that is rounded to `rounding`, which may be wider than 16
/// bits.
Expression expFor(mlir::Type rounding, Expression x, ExpArgument argument);
/// 2^x for a result that is rounded to `rounding`, of 16 bits, and a scalar
/// from -150 to 0.
Expression exp2For(mlir::Type rounding, Expression x);

/// x minus its largest element along `dim`; NaN in place of every element that
/// is infinite beside an infinite largest one, and of every NaN.
Expression minusLargest(Expression x, int64_t dim);
/// The largest element along `dim` for such a difference; see kAnyWithNaNAttr.
Expression largestOver(Expression x, int64_t dim);
/// Softmax along `dim` in the type of `x`, whose error fits `rounding`: at most
/// that of two exponentials, and no more of its difference from 1.
Expression softmaxFor(mlir::Type rounding, Expression x, int64_t dim);

} // namespace mp

#endif // MP_DIALECT_ACCURACY_H
