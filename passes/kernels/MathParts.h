//===- MathParts.h - what expansions of functions share ---------*- C++ -*-===//
//
// The expansions (passes/kernels/MathExpansion.h) are arithmetic on f32 and on
// the bits of f32, on scalars or on vectors alike. Here are the formulas that
// several need, and what their files give one another.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_KERNELS_MATHPARTS_H
#define MP_PASSES_KERNELS_MATHPARTS_H

#include "dialect/Expression.h"

namespace mp::expansion {

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

inline Expression bitsOf(Expression x) {
  return bitcast(x, x.builder().getI32Type());
}
inline Expression floatOf(Expression bits) {
  return bitcast(bits, bits.builder().getF32Type());
}
/// The f32 nearest to an integer.
inline Expression toFloat(Expression integer) {
  return integer.to(integer.builder().getF32Type());
}

inline Expression withoutSign(Expression x) {
  return floatOf(bitsOf(x) & INT32_MAX);
}
/// `magnitude` (not negative) with the sign of `x`.
inline Expression withSign(Expression magnitude, Expression x) {
  Expression sign = bitsOf(x) & INT32_MIN;
  return floatOf(bitsOf(magnitude) | sign);
}

//===----------------------------------------------------------------------===//
// Bounds, sums and products
//===----------------------------------------------------------------------===//

/// A bound for `x`; NaN stays NaN.
inline Expression atLeast(Expression x, float bound) {
  Expression limit = x.number(bound);
  return select(x < limit, limit, x);
}
inline Expression atMost(Expression x, float bound) {
  Expression limit = x.number(bound);
  return select(x > limit, limit, x);
}

/// c[0] + c[1] x + c[2] x^2 + ...
inline Expression polynomial(Expression x, llvm::ArrayRef<float> c) {
  Expression sum = x.number(c.back());
  for (float coefficient : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, coefficient);
  return sum;
}

/// x * y less its rounded value `product`, exactly.
inline Expression restOfProduct(Expression x, Expression y,
                                Expression product) {
  return fma(x, y, -product);
}

//===----------------------------------------------------------------------===//
// Integers among floats
//===----------------------------------------------------------------------===//

/// |x| rounded to an integer; itself from 2^23 on and at NaN.
inline Expression roundedMagnitude(Expression x) {
  Expression magnitude = withoutSign(x), shift = x.number(0x1p23f);
  Expression isSmall = magnitude < shift;
  return select(isSmall, magnitude + shift - shift, magnitude);
}
inline Expression isInteger(Expression x) {
  Expression rounded = roundedMagnitude(x), magnitude = withoutSign(x);
  return rounded == magnitude;
}

/// An integer as an i32 and as an f32.
struct Rounded {
  Expression integer, real;
};
/// Adding 1.5 * 2^23 leaves the nearest integer in the low bits of a sum.
constexpr float kMagic = 12582912.0f;
inline Rounded fromBiased(Expression biased) {
  return {bitsOf(biased) - llvm::bit_cast<int32_t>(kMagic), biased - kMagic};
}
/// The integer nearest to x * factor. Needs |x * factor| < 2^22; NaN gives
/// rubbish in `integer` but no undefined value, unlike a conversion.
inline Rounded roundProduct(Expression x, float factor) {
  return fromBiased(fma(x, factor, kMagic));
}
/// The integer nearest to x, for |x| < 2^22.
inline Rounded rounded(Expression x) { return fromBiased(x + kMagic); }

/// 2^n for n in [-126, 127].
inline Expression powerOfTwo(Expression n) { return floatOf((n + 127) << 23); }
/// x 2^n for n in [-250, 254]: in two steps, of which the first is exact where
/// the second rounds to a subnormal.
inline Expression timesPowerOfTwo(Expression x, Expression n) {
  Expression half = n >> 1;
  Expression first = x * powerOfTwo(half);
  return first * powerOfTwo(n - half);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Splits positive normal bits into e and the bits of 2^-e x in [sqrt 1/2, sqrt
/// 2).
struct LogReduction {
  Expression e, fraction;
};
LogReduction reduceLog(Expression bits);

/// 2^(high + low) for `high` in [-151, 129]; `low`, which may be null, is not
/// greater than the rounding of `high`.
Expression exp2Bounded(Expression high, Expression low);

Expression expandPow(Expression x, Expression y);
Expression expandSin(Expression x);
Expression expandCos(Expression x);

} // namespace mp::expansion

#endif // MP_PASSES_KERNELS_MATHPARTS_H
