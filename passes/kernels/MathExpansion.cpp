//===- MathExpansion.cpp - f32 functions as plain arithmetic --------------===//
//
// Each function reduces its argument exactly, evaluates a polynomial by
// Horner's rule in fused steps, and puts the result together so that the last
// operation does nearly all of the rounding. The coefficients are minimax fits
// of our own: Lawson's reweighted least squares on Chebyshev nodes in 40
// digits, minimising the relative error of the function itself, each
// coefficient rounded to f32 in turn, lowest first, and the others fitted
// again. The ranges stand at each table. Powers and waves have files of their
// own.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/MathExpansion.h"
#include "dialect/Accuracy.h"
#include "passes/kernels/Float8.h"
#include "passes/kernels/MathParts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp;
using namespace mp::expansion;

Expression mp::expansion::exp2Bounded(Expression high, Expression low) {
  Rounded n = roundProduct(high, 1);
  Expression r = high - n.real;
  if (low)
    r = r + low;
  // (2^r - 1) / r on |r| <= 1/2; error 2^-28.3 of 2^r.
  Expression p =
      polynomial(r, {0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6af7ap-5f,
                     0x1.3b2dd8p-7f, 0x1.5f0974p-10f, 0x1.41749cp-13f});
  return timesPowerOfTwo(fma(p, r, 1), n.integer);
}

LogReduction mp::expansion::reduceLog(Expression bits) {
  constexpr int32_t sqrtHalf = 0x3f3504f3;
  Expression e = (bits - sqrtHalf) >> 23;
  return {e, bits - (e << 23)};
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr float kLog2e = 0x1.715476p+0f;
// ln 2 in two parts; products of the first with |n| <= 2^9 are exact.
constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;

/// x = n ln 2 + r, |r| <= ln 2 / 2, for |x| < 200.
struct ExpReduction {
  Expression n, r;
};
ExpReduction reduceExp(Expression x) {
  Rounded n = roundProduct(x, kLog2e);
  Expression r = fma(n.real, -kLn2High, x);
  return {n.integer, fma(n.real, -kLn2Low, r)};
}

Expression expandExp(Expression x, ExpArgument argument) {
  // Below -104 the result is 0, above 89 infinite.
  if (argument != ExpArgument::Small)
    x = atLeast(x, -104);
  if (argument == ExpArgument::Any)
    x = atMost(x, 89);
  auto [n, r] = reduceExp(x);
  // (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; error 2^-28.2 of e^r.
  Expression p = polynomial(r, {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558b2p-5f,
                                0x1.12399ep-7f, 0x1.6a4b4p-10f});
  Expression q = fma(r * r, p, r);
  return timesPowerOfTwo(q + 1, n);
}

/// 2^(n + r) for a result of 16 bits, |r| <= 1/2.
Expression narrowPowerOfTwo(Expression r, Expression n, bool isBF16) {
  // 2^r on |r| <= 1/2, exact at 0; error 2^-13.2 or 2^-18.4.
  Expression p =
      isBF16
          ? polynomial(r, {1, 0x1.62f5fcp-1f, 0x1.f00c4ep-3f, 0x1.c2a208p-5f})
          : polynomial(r, {1, 0x1.62e12cp-1f, 0x1.ec0378p-3f, 0x1.c9fc48p-5f,
                           0x1.3a02c8p-7f});
  return timesPowerOfTwo(p, n);
}

/// e^x for a result of 16 bits.
Expression expandNarrowExp(Expression x, bool isBF16, ExpArgument argument) {
  if (argument != ExpArgument::Small)
    x = atLeast(x, -104);
  if (argument == ExpArgument::Any)
    x = atMost(x, 89);
  // One fused step reduces: what log2 e lacks in f32 is 2^-26 of the exponent,
  // which is at most 150.
  auto [n, real] = roundProduct(x, kLog2e);
  Expression r = fma(x, kLog2e, -real);
  return narrowPowerOfTwo(r, n, isBF16);
}

/// The exponential, as exact as the op says (dialect/Accuracy.h).
Expression expandExp(math::ExpOp op, Expression x) {
  auto known = op->getAttrOfType<IntegerAttr>(kArgumentAttr);
  auto argument = known ? ExpArgument(known.getInt()) : ExpArgument::Any;
  if (auto rounding = op->getAttrOfType<TypeAttr>(kRoundsToAttr))
    return expandNarrowExp(x, rounding.getValue().isBF16(), argument);
  return expandExp(x, argument);
}

/// The power of two, as exact as the op says.
Expression expandExp2(math::Exp2Op op, Expression x) {
  if (auto rounding = op->getAttrOfType<TypeAttr>(kRoundsToAttr)) {
    auto [n, real] = rounded(x);
    return narrowPowerOfTwo(x - real, n, rounding.getValue().isBF16());
  }
  return exp2Bounded(atMost(atLeast(x, -151), 129), Expression());
}

/// e^x - 1 = 2^n q + (2^n - 1), |q| <= 0.42.
struct Expm1Parts {
  Expression n, q;
};
Expm1Parts expm1Parts(Expression x) {
  auto [n, r] = reduceExp(x);
  // (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; error 2^-31 of e^r - 1.
  Expression p =
      polynomial(r, {0x1p-1f, 0x1.555554p-3f, 0x1.5554f8p-5f, 0x1.1112d4p-7f,
                     0x1.6d3a52p-10f, 0x1.9e7cb4p-13f});
  return {n, fma(r * r, p, r)};
}

/// e^x - 1 for x in [-30, 80], the sign of zero excepted.
Expression expm1Bounded(Expression x) {
  auto [n, q] = expm1Parts(x);
  Expression power = powerOfTwo(n);
  return fma(power, q, power - 1);
}

Expression expandExpm1(Expression x) {
  auto [n, q] = expm1Parts(atMost(atLeast(x, -30), 89));
  // Halved, so that n = 128 does not overflow early.
  Expression half = powerOfTwo(n - 1);
  Expression sum = fma(half, q, half - 0.5);
  // Below 2^-25 it is x, which halving could cost its last bit and -0 its sign.
  Expression isTiny = withoutSign(x) < 0x1p-25;
  return select(isTiny, x, sum + sum);
}

Expression expandTanh(Expression x) {
  // (e^2|x| - 1) / (e^2|x| + 1): no cancellation, and odd by construction. From
  // 10 on it is 1.
  Expression magnitude = atMost(withoutSign(x), 10);
  Expression y = expm1Bounded(magnitude + magnitude);
  return withSign(y / (y + 2), x);
}

Expression expandErf(Expression x) {
  // 1 - e^-t with t = -log(erfc |x|) = c |x| + |x| (P(|x|) + d), where c + d is
  // 2 / sqrt pi in two parts and d the first coefficient of the polynomial
  // below. From 3.95 on erf rounds to 1.
  Expression a = atMost(withoutSign(x), 3.95f);
  // -log(erfc a) / a - c on [0, 3.95]; error 2^-27.8 of erf.
  Expression p =
      polynomial(a, {-0x1.cf6bf2p-25f, 0x1.45f2fap-1f, 0x1.a4fa4ap-4f,
                     -0x1.39cca6p-6f, -0x1.5163cp-13f, 0x1.b52036p-10f,
                     -0x1.4bec0ep-11f, 0x1.edb628p-14f, -0x1.36d544p-17f});
  Expression c = a.number(0x1.20dd76p+0f);
  Expression t = fma(a, c, a * p);
  Expression y = expm1Bounded(0 - t);
  return withSign(withoutSign(y), x);
}

/// log(2^e (1 + f)) for 1 + f in [sqrt 1/2, sqrt 2] and an integral e.
Expression logCore(Expression f, Expression e) {
  // (log(1 + f) - f + f^2 / 2) / f^3; error 2^-30 of log(1 + f).
  Expression p =
      polynomial(f, {0x1.555548p-2f, -0x1.000008p-2f, 0x1.99a47ap-3f,
                     -0x1.555b98p-3f, 0x1.233aaep-3f, -0x1.fc3b06p-4f,
                     0x1.e6df4cp-4f, -0x1.ddb294p-4f, 0x1.13d952p-4f});
  Expression square = f * f, cube = f * square;
  Expression tail = fma(cube, p, e * kLn2Low);
  Expression y = f + fma(square, -0.5, tail);
  return fma(e, kLn2High, y);
}

/// `y` where x is positive and finite; else what a logarithm gives at x.
Expression logEdges(Expression x, Expression y) {
  // +inf and NaN are themselves.
  y = select(x < kInfinity, y, x);
  y = select(x < 0, kNan, y);
  return select(x == 0, -kInfinity, y);
}

Expression expandLog(Expression x) {
  Expression isSmall = x < 0x1p-126;
  Expression normal = select(isSmall, x * 0x1p24, x);
  auto [e, fraction] = reduceLog(bitsOf(normal));
  Expression integer = toFloat(e), less = x.number(-24);
  Expression exponent = integer + select(isSmall, less, 0);
  Expression f = floatOf(fraction) - 1;
  return logEdges(x, logCore(f, exponent));
}

Expression expandLog1p(Expression x) {
  // 1 + x = u + d exactly, by the sum of the greater and the smaller.
  Expression one = x.number(1);
  Expression u = one + x;
  Expression isLarge = withoutSign(x) > one;
  Expression lostOfOne = one - (u - x), lostOfX = x - (u - one);
  Expression d = select(isLarge, lostOfOne, lostOfX);
  auto [e, fraction] = reduceLog(bitsOf(u));
  // d, at most half of u's last place, goes into f, scaled as u is. Where e
  // does not fit a normal power of two, d does not count.
  Expression zero = e.number(0);
  Expression down = powerOfTwo(zero - min(e, 126));
  Expression rounded = floatOf(fraction) - one;
  Expression f = rounded + d * down;
  Expression y = logCore(f, toFloat(e));
  Expression isZero = x == 0;
  return select(isZero, x, logEdges(u, y));
}

Expression expandRsqrt(Expression x) {
  Expression one = x.number(1);
  return one / sqrt(x);
}

Expression expandFloor(Expression x) {
  Expression near = withSign(roundedMagnitude(x), x);
  Expression isAbove = near > x;
  return select(isAbove, near - 1, near);
}

/// The expansion of `op`, or null where it stays.
Value expand(Operation &op) {
  if (op.getNumOperands() == 0 || op.getNumResults() != 1 ||
      !getElementTypeOrSelf(op.getResult(0)).isF32())
    return {};
  ImplicitLocOpBuilder b(op.getLoc(), &op);
  Expression x(b, op.getOperand(0));
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](math::ExpOp o) { return expandExp(o, x); })
      .Case([&](math::Exp2Op o) { return expandExp2(o, x); })
      .Case([&](math::ExpM1Op) { return expandExpm1(x); })
      .Case([&](math::LogOp) { return expandLog(x); })
      .Case([&](math::Log1pOp) { return expandLog1p(x); })
      .Case([&](math::TanhOp) { return expandTanh(x); })
      .Case([&](math::ErfOp) { return expandErf(x); })
      .Case([&](math::SinOp) { return expandSin(x); })
      .Case([&](math::CosOp) { return expandCos(x); })
      .Case([&](math::FloorOp) { return expandFloor(x); })
      .Case([&](math::PowFOp o) { return expandPow(x, {b, o.getRhs()}); })
      .Case([&](math::RsqrtOp) { return expandRsqrt(x); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

void mp::expandMath(Operation *root) {
  root->walk([](Operation *op) {
    Value result = expand(*op);
    if (!result)
      result = expandFloat8(*op);
    if (result) {
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  });
}
