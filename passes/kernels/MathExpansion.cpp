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
#include "passes/kernels/Float8.h"
#include "passes/kernels/MathBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp::expansion;

Value mp::expansion::exp2Bounded(Math &m, Value high, Value low) {
  Math::Rounded n = m.roundProduct(high, 1);
  Value r = m.sub(high, n.real);
  if (low)
    r = m.add(r, low);
  // (2^r - 1) / r on |r| <= 1/2; error 2^-28.3 of 2^r.
  Value p = m.polynomial(r, {0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6af7ap-5f,
                             0x1.3b2dd8p-7f, 0x1.5f0974p-10f, 0x1.41749cp-13f});
  return m.scale(m.fma(p, r, m.constant(1)), n.integer);
}

LogReduction mp::expansion::reduceLog(Math &m, Value bits) {
  Value sqrtHalf = m.integer(0x3f3504f3);
  Value e = m.shiftRight(m.subi(bits, sqrtHalf), 23);
  return {e, m.subi(bits, m.shiftLeft(e, 23))};
}

namespace {

// ln 2 in two parts; products of the first with |n| <= 2^9 are exact.
constexpr float log2e = 0x1.715476p+0f, ln2High = 0x1.62e4p-1f,
                ln2Low = 0x1.7f7d1cp-20f;

/// x = n ln 2 + r, |r| <= ln 2 / 2, for |x| < 200.
struct ExpReduction {
  Value n, r;
};
ExpReduction reduceExp(Math &m, Value x) {
  Math::Rounded n = m.roundProduct(x, log2e);
  Value r = m.fma(n.real, m.constant(-ln2High), x);
  return {n.integer, m.fma(n.real, m.constant(-ln2Low), r)};
}

Value expandExp(Math &m, Value x) {
  // Below -104 the result is 0, above 89 infinite.
  auto [n, r] = reduceExp(m, m.atMost(m.atLeast(x, -104), 89));
  // (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; error 2^-28.2 of e^r.
  Value p = m.polynomial(r, {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558b2p-5f,
                             0x1.12399ep-7f, 0x1.6a4b4p-10f});
  Value q = m.fma(m.mul(r, r), p, r);
  return m.scale(m.add(q, m.constant(1)), n);
}

Value expandExp2(Math &m, Value x) {
  return exp2Bounded(m, m.atMost(m.atLeast(x, -151), 129), Value());
}

/// e^x - 1 = 2^n q + (2^n - 1), |q| <= 0.42.
struct Expm1Parts {
  Value n, q;
};
Expm1Parts expm1Parts(Math &m, Value x) {
  auto [n, r] = reduceExp(m, x);
  // (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; error 2^-31 of e^r - 1.
  Value p = m.polynomial(r, {0x1p-1f, 0x1.555554p-3f, 0x1.5554f8p-5f,
                             0x1.1112d4p-7f, 0x1.6d3a52p-10f, 0x1.9e7cb4p-13f});
  return {n, m.fma(m.mul(r, r), p, r)};
}

/// e^x - 1 for x in [-30, 80], the sign of zero excepted.
Value expm1Bounded(Math &m, Value x) {
  auto [n, q] = expm1Parts(m, x);
  Value power = m.power(n);
  return m.fma(power, q, m.sub(power, m.constant(1)));
}

Value expandExpm1(Math &m, Value x) {
  auto [n, q] = expm1Parts(m, m.atMost(m.atLeast(x, -30), 89));
  // Halved, so that n = 128 does not overflow early.
  Value half = m.power(m.subi(n, m.integer(1)));
  Value sum = m.fma(half, q, m.sub(half, m.constant(0.5f)));
  // Below 2^-25 it is x, which halving could cost its last bit and -0 its sign.
  Value tiny =
      m.compare(arith::CmpFPredicate::OLT, m.abs(x), m.constant(0x1p-25f));
  return m.select(tiny, x, m.add(sum, sum));
}

Value expandTanh(Math &m, Value x) {
  // (e^2|x| - 1) / (e^2|x| + 1): no cancellation, and odd by construction. From
  // 10 on it is 1.
  Value a = m.atMost(m.abs(x), 10);
  Value y = expm1Bounded(m, m.add(a, a));
  return m.withSign(m.div(y, m.add(y, m.constant(2))), x);
}

Value expandErf(Math &m, Value x) {
  // 1 - e^-t with t = -log(erfc |x|) = c |x| + |x| (P(|x|) + d), where c + d is
  // 2 / sqrt pi in two parts and d the first coefficient of the polynomial
  // below. From 3.95 on erf rounds to 1.
  Value a = m.atMost(m.abs(x), 3.95f);
  // -log(erfc a) / a - c on [0, 3.95]; error 2^-27.8 of erf.
  Value p =
      m.polynomial(a, {-0x1.cf6bf2p-25f, 0x1.45f2fap-1f, 0x1.a4fa4ap-4f,
                       -0x1.39cca6p-6f, -0x1.5163cp-13f, 0x1.b52036p-10f,
                       -0x1.4bec0ep-11f, 0x1.edb628p-14f, -0x1.36d544p-17f});
  Value t = m.fma(a, m.constant(0x1.20dd76p+0f), m.mul(a, p));
  Value y = expm1Bounded(m, m.sub(m.constant(0), t));
  return m.withSign(m.abs(y), x);
}

/// log(2^e (1 + f)) for 1 + f in [sqrt 1/2, sqrt 2] and an integral e.
Value logCore(Math &m, Value f, Value e) {
  // (log(1 + f) - f + f^2 / 2) / f^3; error 2^-30 of log(1 + f).
  Value p = m.polynomial(f, {0x1.555548p-2f, -0x1.000008p-2f, 0x1.99a47ap-3f,
                             -0x1.555b98p-3f, 0x1.233aaep-3f, -0x1.fc3b06p-4f,
                             0x1.e6df4cp-4f, -0x1.ddb294p-4f, 0x1.13d952p-4f});
  Value square = m.mul(f, f);
  Value tail = m.fma(m.mul(f, square), p, m.mul(e, m.constant(ln2Low)));
  Value y = m.add(f, m.fma(square, m.constant(-0.5f), tail));
  return m.fma(e, m.constant(ln2High), y);
}

/// `y` where x is positive and finite; else what a logarithm gives at x.
Value logEdges(Math &m, Value x, Value y) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  using P = arith::CmpFPredicate;
  // +inf and NaN are themselves.
  y = m.select(m.compare(P::OLT, x, m.constant(infinity)), y, x);
  y = m.select(m.compare(P::OLT, x, m.constant(0)), m.constant(nan), y);
  return m.select(m.compare(P::OEQ, x, m.constant(0)), m.constant(-infinity),
                  y);
}

Value expandLog(Math &m, Value x) {
  Value small = m.compare(arith::CmpFPredicate::OLT, x, m.constant(0x1p-126f));
  Value normal = m.select(small, m.mul(x, m.constant(0x1p24f)), x);
  auto [e, fraction] = reduceLog(m, m.bitsOf(normal));
  Value exponent =
      m.add(m.toFloat(e), m.select(small, m.constant(-24), m.constant(0)));
  Value f = m.sub(m.floatOf(fraction), m.constant(1));
  return logEdges(m, x, logCore(m, f, exponent));
}

Value expandLog1p(Math &m, Value x) {
  // 1 + x = u + d exactly, by the sum of the greater and the smaller.
  Value one = m.constant(1);
  Value u = m.add(one, x);
  Value large = m.compare(arith::CmpFPredicate::OGT, m.abs(x), one);
  Value d = m.select(large, m.sub(one, m.sub(u, x)), m.sub(x, m.sub(u, one)));
  auto [e, fraction] = reduceLog(m, m.bitsOf(u));
  // d, at most half of u's last place, goes into f, scaled as u is. Where e
  // does not fit a normal power of two, d does not count.
  Value down = m.power(m.subi(m.integer(0), m.mini(e, m.integer(126))));
  Value f = m.add(m.sub(m.floatOf(fraction), one), m.mul(d, down));
  Value y = logCore(m, f, m.toFloat(e));
  Value zero = m.compare(arith::CmpFPredicate::OEQ, x, m.constant(0));
  return m.select(zero, x, logEdges(m, u, y));
}

Value expandRsqrt(Math &m, ImplicitLocOpBuilder &b, Value x) {
  return m.div(m.constant(1), math::SqrtOp::create(b, x));
}

Value expandFloor(Math &m, Value x) {
  Value near = m.withSign(m.roundedMagnitude(x), x);
  Value isAbove = m.compare(arith::CmpFPredicate::OGT, near, x);
  return m.select(isAbove, m.sub(near, m.constant(1)), near);
}

/// The expansion of `op`, or null where it stays.
Value expand(Operation &op) {
  if (op.getNumResults() != 1 || !getElementTypeOrSelf(op.getResult(0)).isF32())
    return {};
  ImplicitLocOpBuilder b(op.getLoc(), &op);
  Math m(b, op.getResult(0).getType());
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](math::ExpOp o) { return expandExp(m, o.getOperand()); })
      .Case([&](math::Exp2Op o) { return expandExp2(m, o.getOperand()); })
      .Case([&](math::ExpM1Op o) { return expandExpm1(m, o.getOperand()); })
      .Case([&](math::LogOp o) { return expandLog(m, o.getOperand()); })
      .Case([&](math::Log1pOp o) { return expandLog1p(m, o.getOperand()); })
      .Case([&](math::TanhOp o) { return expandTanh(m, o.getOperand()); })
      .Case([&](math::ErfOp o) { return expandErf(m, o.getOperand()); })
      .Case([&](math::SinOp o) { return expandSin(m, o.getOperand()); })
      .Case([&](math::CosOp o) { return expandCos(m, o.getOperand()); })
      .Case([&](math::FloorOp o) { return expandFloor(m, o.getOperand()); })
      .Case(
          [&](math::PowFOp o) { return expandPow(m, o.getLhs(), o.getRhs()); })
      .Case([&](math::RsqrtOp o) { return expandRsqrt(m, b, o.getOperand()); })
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
