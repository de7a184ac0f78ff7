//===- MathPower.cpp - x^y of f32 as plain arithmetic ---------------------===//
//
// 2^(y log2 |x|), where the logarithm is the sum of two f32 numbers: of a
// product up to 150 as many bits must be right after the binary point as the
// result has. Then the sign, and what C says of zeros, infinities and NaN.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/MathParts.h"

using namespace mlir;
using namespace mp;
using namespace mp::expansion;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The sum of two numbers, of which the second is at most about a rounding of
/// the first.
struct Pair {
  Expression high, low;
};

/// The product, to twice the bits but a few.
Pair operator*(Pair x, Pair y) {
  Expression high = x.high * y.high;
  Expression rest = restOfProduct(x.high, y.high, high);
  Expression cross = fma(x.high, y.low, x.low * y.high);
  return {high, rest + cross};
}
/// The sum, where |x| >= |y| or x is zero.
Pair operator+(Pair x, Pair y) {
  Expression high = x.high + y.high;
  Expression rest = x.high - high + y.high;
  return {high, rest + (x.low + y.low)};
}
Pair constant(Expression like, float high, float low) {
  return {like.number(high), like.number(low)};
}

/// (x - 1) / (x + 1) for x in [1/2, 2].
Pair centred(Expression x) {
  Expression one = x.number(1);
  Expression numerator = x - one, denominator = x + one;
  Expression lost = x - (denominator - one);
  Expression high = numerator / denominator, negative = -high;
  Expression rest = fma(negative, denominator, numerator);
  return {high, fma(negative, lost, rest) / denominator};
}

/// log2 x for x above zero and finite; error 2^-35 of it.
Pair log2(Expression x) {
  Expression isSmall = x < 0x1p-126;
  Expression normal = select(isSmall, x * 0x1p24, x);
  auto [e, fraction] = reduceLog(bitsOf(normal));
  Expression zero = x.number(0), integer = toFloat(e);
  Expression exponent = integer + select(isSmall, -24, zero);

  // log x = 2 atanh s = 2 (s + s t (1/3 + t (...))), t = s^2.
  Pair s = centred(floatOf(fraction)), t = s * s;
  // (atanh(s) / s - 1 - t / 3) / t^2 on |s| <= 0.1716; error 2^-36.8.
  Expression tail =
      polynomial(t.high, {0x1.999a00p-3f, 0x1.245282p-3f, 0x1.dfa076p-4f});
  Pair third = constant(x, 0x1.555556p-2f, -0x1.555556p-27f);
  Pair series = third + Pair{t.high * tail, zero};
  Pair bend = s * (t * series);
  Pair twoOverLn2 = constant(x, 0x1.715476p+1f, 0x1.4ae0c0p-25f);
  return Pair{exponent, zero} + (s + bend) * twoOverLn2;
}

/// |x|^y, but for the cases of `edges`.
Expression powerOf(Expression x, Expression y) {
  Pair log = log2(x);
  // So that the product is infinite, of the right sign.
  Expression isZero = x == 0, least = x.number(-kInfinity);
  Expression finite = select(x == kInfinity, kInfinity, log.high);
  Expression high = select(isZero, least, finite);
  Expression z = y * high;
  Expression rest = fma(y, log.low, restOfProduct(y, high, z));
  // Below -150 the result is 0, from 128 on infinite.
  Expression bounded = atMost(atLeast(z, -151), 129);
  Expression isWithin = bounded == z;
  return exp2Bounded(bounded, select(isWithin, rest, 0));
}

/// Results that |x| ^ y does not give.
Expression edges(Expression x, Expression y, Expression power) {
  Expression one = x.number(1), magnitude = withoutSign(x);
  Expression isNegative = x < 0, isFinite = magnitude < kInfinity;
  Expression fails = isNegative & isFinite;
  Expression isWhole = isInteger(y);
  Expression result = select(fails, select(isWhole, power, kNan), power);
  result = select(isUnordered(x, y), kNan, result);
  Expression isEndless = withoutSign(y) == kInfinity;
  Expression isOne = (magnitude == one) & isEndless;
  isOne = isOne | (x == one);
  isOne = isOne | (y == 0);
  return select(isOne, one, result);
}

} // namespace

Expression mp::expansion::expandPow(Expression x, Expression y) {
  Expression power = powerOf(withoutSign(x), y);
  // Odd: whole, and not when halved. From 2^24 on every number is even.
  Expression half = y * 0.5;
  Expression negative = withSign(power, x);
  Expression odd = select(isInteger(half), power, negative);
  Expression result = select(isInteger(y), odd, power);
  return edges(x, y, result);
}
