//===- NarrowActivation.cpp - activations for results of 16 bits ----------===//
//
// The coefficients are minimax fits of our own, as those of MathExpansion.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/NarrowActivation.h"

using namespace mlir;
using namespace mp;

/// `x` but for a greater magnitude than `bound`; NaN stays NaN.
static Expression atMost(Expression x, double bound) {
  Expression limit = x.number(bound);
  return select(x > limit, limit, x);
}
static Expression atLeast(Expression x, double bound) {
  Expression limit = x.number(bound);
  return select(x < limit, limit, x);
}

//===----------------------------------------------------------------------===//
// The logistic function
//===----------------------------------------------------------------------===//

namespace {
/// The logistic function of z as `numerator / denominator`, from e^-|z|: that
/// neither overflows nor loses small results.
struct Logistic {
  Logistic(Expression z, Type rounding, ExpArgument argument)
      : isPositive(z > 0), decay(expFor(rounding, -abs(z), argument)),
        denominator(1 + decay) {}

  Expression value() const {
    return select(isPositive, 1, decay) / denominator;
  }
  /// 1 less the value.
  Expression rest() const {
    Expression one = decay.number(1);
    return select(isPositive, decay, one) / denominator;
  }

  Expression isPositive, decay, denominator;
};
} // namespace

Expression mp::narrowSigmoid(Expression x, Type type) {
  return Logistic(x, type, ExpArgument::NotPositive).value();
}

/// x times the logistic function; `bounded` is a negative x in f32, as large as
/// matters.
static Expression timesLogistic(Expression x, Expression bounded,
                                const Logistic &logistic) {
  Expression small = bounded * logistic.decay;
  return select(logistic.isPositive, x, small) / logistic.denominator;
}

/// Below this, x / (1 + e^-x) rounds to zero in 16 bits.
static constexpr double kSiluBound = -104;

Expression mp::narrowSilu(Expression x, Type type) {
  Logistic logistic(x, type, ExpArgument::NotPositive);
  return timesLogistic(x, atLeast(x, kSiluBound), logistic);
}
/// s (1 + x (1 - s)), where s is the logistic function of x.
Expression mp::narrowSiluSlope(Expression x) {
  Expression z = atMost(atLeast(x, kSiluBound), -kSiluBound);
  Logistic logistic(z, z.getType(), ExpArgument::Small);
  return logistic.value() * (1 + z * logistic.rest());
}

//===----------------------------------------------------------------------===//
// gelu with the tanh
//===----------------------------------------------------------------------===//

static constexpr double kSqrt2OverPi = 0.79788456080286535588;
static constexpr double kCubic = 0.044715;
/// From here on gelu and its slope round to those of infinity in bf16.
static constexpr double kGeluBound = 14;

/// 2u for a bounded x.
static Expression twiceCubic(Expression x) {
  return x * (2 * kSqrt2OverPi + 2 * kSqrt2OverPi * kCubic * (x * x));
}

Expression mp::narrowTanhGelu(Expression x, Type type) {
  Expression bounded = atMost(atLeast(x, -kGeluBound), kGeluBound);
  Logistic logistic(twiceCubic(bounded), type, ExpArgument::NotPositive);
  return timesLogistic(x, bounded, logistic);
}
/// s (1 + x (1 - s) (2u)'), where s is the logistic function of 2u.
Expression mp::narrowTanhGeluSlope(Expression x) {
  Expression z = atMost(atLeast(x, -kGeluBound), kGeluBound);
  Logistic logistic(twiceCubic(z), z.getType(), ExpArgument::NotPositive);
  Expression slope = 2 * kSqrt2OverPi + 6 * kSqrt2OverPi * kCubic * (z * z);
  return logistic.value() * (1 + z * logistic.rest() * slope);
}

//===----------------------------------------------------------------------===//
// gelu
//===----------------------------------------------------------------------===//

namespace {
/// Functions of t on [0, bound], after which the results of the type are those
/// of infinity.
struct NormalFit {
  double bound;
  /// log2 Phi(-t), a polynomial in t. It is smooth, so that no division is
  /// needed.
  double tail[9];
  /// (Phi(-t) e^(t^2 / 2) - t / sqrt(2 pi)) / (root - t), a polynomial in
  /// y = 1 / (1 + scale t) without the constant term.
  double slopeScale, slope[4];
};
} // namespace

// Error 2^-12.4 of Phi(-t) and 2^-14.0 of the slope.
static constexpr NormalFit kBF16Fit = {
    kGeluBound,
    {-0x1.001108p+0, -0x1.25f132p+0, -0x1.db6324p-2, -0x1.982f72p-5,
     0x1.d18efep-8, -0x1.695c2cp-11, 0x1.6378dep-15, -0x1.8c3d36p-20,
     0x1.7b626p-26},
    0.32,
    {0x1.976b68p-2, 0x1.b9913ap-4, 0x1.0fec28p-5, 0x1.026c1ap-3}};
// Error 2^-16.6 and 2^-14.8.
static constexpr NormalFit kF16Fit = {
    7,
    {-0x1.0000eap+0, -0x1.26aa4ap+0, -0x1.d5faa8p-2, -0x1.b648ep-5,
     0x1.10151ep-7, -0x1.cf112ep-11, 0x1.d70f88p-15, -0x1.aa5942p-20, 0},
    0.31,
    {0x1.955538p-2, 0x1.e4ed9p-4, 0x1.06006p-10, 0x1.32dba6p-3}};
/// Where the slope of gelu is zero at -t, in two parts.
static constexpr double kRoot = 0x1.80ead2p-1, kRootLow = -0x1.a03fd4p-27;

static const NormalFit &fitFor(Type type) {
  return type.isBF16() ? kBF16Fit : kF16Fit;
}

/// c[0] + c[1] y + c[2] y^2 + ..., whose last coefficients may be zero.
static Expression polynomial(Expression y, ArrayRef<double> c) {
  while (c.back() == 0)
    c = c.drop_back();
  Expression sum = y.number(c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = fma(sum, y, coefficient);
  return sum;
}
static Expression reciprocalOf(Expression t, double scale) {
  Expression one = t.number(1);
  return one / fma(t, scale, one);
}
/// e^(-t^2 / 2) for t up to 14.
static Expression density(Expression t, Type type) {
  return expFor(type, t * t * -0.5, ExpArgument::Small);
}

/// Of a positive x it is x - t Phi(-t), of a negative one -t Phi(-t), where t
/// is the magnitude: no part cancels another.
Expression mp::narrowGelu(Expression x, Type type) {
  const NormalFit &fit = fitFor(type);
  Expression t = atMost(abs(x), fit.bound);
  Expression tail = exp2For(type, polynomial(t, fit.tail));
  // A zero keeps its sign.
  return atLeast(x, -0.0) - t * tail;
}

/// Phi(x) + x phi(x), which is 1 - s or s with s at the magnitude.
Expression mp::narrowGeluSlope(Expression x, Type type) {
  const NormalFit &fit = fitFor(type);
  Expression t = atMost(abs(x), fit.bound);
  Expression y = reciprocalOf(t, fit.slopeScale);
  Expression distance = kRoot - t + kRootLow;
  Expression s = distance * polynomial(y, fit.slope) * density(t, type);
  return select(x > 0, 1 - s, s);
}
