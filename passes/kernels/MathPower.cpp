//===- MathPower.cpp - x^y of f32 as plain arithmetic ---------------------===//
//
// 2^(y log2 |x|), where the logarithm is the sum of two f32 numbers: of a
// product up to 150 as many bits must be right behind the binary point as the
// result has. Then the sign, and what C says of zeros, infinities and NaN.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/MathBuilder.h"

using namespace mlir;
using namespace mp::expansion;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
using P = arith::CmpFPredicate;

/// The sum of two numbers, of which the second is at most about a rounding of
/// the first.
struct Pair {
  Value high, low;
};

/// The product, to twice the bits but a few.
Pair multiply(Math &m, Pair x, Pair y) {
  Value high = m.mul(x.high, y.high);
  Value rest = m.restOfProduct(x.high, y.high, high);
  Value cross = m.fma(x.high, y.low, m.mul(x.low, y.high));
  return {high, m.add(rest, cross)};
}
/// The sum, where |x| >= |y| or x is zero.
Pair sum(Math &m, Pair x, Pair y) {
  Value high = m.add(x.high, y.high);
  Value rest = m.add(m.sub(x.high, high), y.high);
  return {high, m.add(rest, m.add(x.low, y.low))};
}
Pair constant(Math &m, float high, float low) {
  return {m.constant(high), m.constant(low)};
}

/// (x - 1) / (x + 1) for x in [1/2, 2].
Pair centred(Math &m, Value x) {
  Value one = m.constant(1);
  Value numerator = m.sub(x, one), denominator = m.add(x, one);
  Value lost = m.sub(x, m.sub(denominator, one));
  Value high = m.div(numerator, denominator), negative = m.neg(high);
  Value rest = m.fma(negative, denominator, numerator);
  return {high, m.div(m.fma(negative, lost, rest), denominator)};
}

/// log2 x for x above zero and finite; error 2^-35 of it.
Pair log2(Math &m, Value x) {
  Value small = m.compare(P::OLT, x, m.constant(0x1p-126f));
  Value normal = m.select(small, m.mul(x, m.constant(0x1p24f)), x);
  auto [e, fraction] = reduceLog(m, m.bitsOf(normal));
  Value zero = m.constant(0);
  Value exponent = m.add(m.toFloat(e), m.select(small, m.constant(-24), zero));

  // log x = 2 atanh s = 2 (s + s t (1/3 + t (...))), t = s^2.
  Pair s = centred(m, m.floatOf(fraction)), t = multiply(m, s, s);
  // (atanh(s) / s - 1 - t / 3) / t^2 on |s| <= 0.1716; error 2^-36.8.
  Value tail =
      m.polynomial(t.high, {0x1.999a00p-3f, 0x1.245282p-3f, 0x1.dfa076p-4f});
  Pair third = constant(m, 0x1.555556p-2f, -0x1.555556p-27f);
  Pair series = sum(m, third, {m.mul(t.high, tail), zero});
  Pair bend = multiply(m, s, multiply(m, t, series));
  Pair twoOverLn2 = constant(m, 0x1.715476p+1f, 0x1.4ae0c0p-25f);
  return sum(m, {exponent, zero}, multiply(m, sum(m, s, bend), twoOverLn2));
}

/// |x|^y, but for the cases of `edges`.
Value powerOf(Math &m, Value x, Value y) {
  Pair log = log2(m, x);
  // So that the product is infinite, of the right sign.
  Value high =
      m.select(m.compare(P::OEQ, x, m.constant(0)), m.constant(-infinity),
               m.select(m.compare(P::OEQ, x, m.constant(infinity)),
                        m.constant(infinity), log.high));
  Value z = m.mul(y, high);
  Value rest = m.fma(y, log.low, m.restOfProduct(y, high, z));
  // Below -150 the result is 0, from 128 on infinite.
  Value bounded = m.atMost(m.atLeast(z, -151), 129);
  Value within = m.compare(P::OEQ, bounded, z);
  return exp2Bounded(m, bounded, m.select(within, rest, m.constant(0)));
}

/// What is no power of |x|.
Value edges(Math &m, Value x, Value y, Value power) {
  Value one = m.constant(1), magnitude = m.abs(x);
  Value fails = m.andi(m.compare(P::OLT, x, m.constant(0)),
                       m.compare(P::OLT, magnitude, m.constant(infinity)));
  Value isWhole = m.isWhole(y);
  Value result =
      m.select(fails, m.select(isWhole, power, m.constant(nan)), power);
  result = m.select(m.compare(P::UNO, x, y), m.constant(nan), result);
  Value endless = m.compare(P::OEQ, m.abs(y), m.constant(infinity));
  Value isOne = m.andi(m.compare(P::OEQ, magnitude, one), endless);
  isOne = m.ori(isOne, m.compare(P::OEQ, x, one));
  isOne = m.ori(isOne, m.compare(P::OEQ, y, m.constant(0)));
  return m.select(isOne, one, result);
}

} // namespace

Value mp::expansion::expandPow(Math &m, Value x, Value y) {
  Value power = powerOf(m, m.abs(x), y);
  // Odd: whole, and not when halved. From 2^24 on every number is even.
  Value half = m.mul(y, m.constant(0.5f));
  Value negative = m.withSign(power, x);
  Value odd = m.select(m.isWhole(half), power, negative);
  Value result = m.select(m.isWhole(y), odd, power);
  return edges(m, x, y, result);
}
