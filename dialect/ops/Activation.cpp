//===- Activation.cpp - activations and their gradients -------------------===//
//
// Second derivatives are in ActivationCurvature.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Activation.h"
#include "dialect/Scalars.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    auto type = inferElementwise(location, adaptor.getOperands());             \
    if (failed(type))                                                          \
      return failure();                                                        \
    types.push_back(*type);                                                    \
    return success();                                                          \
  }
MP_INFER(ReluOp)
MP_INFER(ReluBackwardOp)
MP_INFER(TanhOp)
MP_INFER(TanhBackwardOp)
MP_INFER(SigmoidOp)
MP_INFER(SigmoidBackwardOp)
MP_INFER(GeluOp)
MP_INFER(GeluBackwardOp)
MP_INFER(SoftplusOp)
MP_INFER(SoftplusBackwardOp)
MP_INFER(SiluOp)
MP_INFER(SiluBackwardOp)
MP_INFER(LeakyReluOp)
MP_INFER(LeakyReluBackwardOp)
MP_INFER(EluOp)
MP_INFER(EluBackwardOp)
#undef MP_INFER

//===----------------------------------------------------------------------===//
// relu, tanh, sigmoid: gradients from the result
//===----------------------------------------------------------------------===//

Scalars ReluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {arith::MaximumFOp::create(b, x[0], number(b, x[0], 0))};
}
Scalars ReluBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value zero = number(b, x[0], 0);
  // "not <= 0" rather than "> 0": PyTorch lets the gradient pass at NaN.
  Value closed =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, x[1], zero);
  return {arith::SelectOp::create(b, closed, zero, x[0])};
}
Gradients ReluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {ReluBackwardOp::create(b, g[0], getResult())};
}

Scalars TanhOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::TanhOp::create(b, x[0])};
}
Scalars TanhBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value slope = sub(b, number(b, x[0], 1), mul(b, x[1], x[1]));
  return {mul(b, x[0], slope)};
}
Gradients TanhOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {TanhBackwardOp::create(b, g[0], getResult())};
}

Scalars SigmoidOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value one = number(b, x[0], 1);
  Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, x[0]));
  return {arith::DivFOp::create(b, one, add(b, one, decay))};
}
Scalars SigmoidBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value slope = mul(b, sub(b, number(b, x[0], 1), x[1]), x[1]);
  return {mul(b, x[0], slope)};
}
Gradients SigmoidOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {SigmoidBackwardOp::create(b, g[0], getResult())};
}

//===----------------------------------------------------------------------===//
// gelu: gradient from the operand (Hendrycks and Gimpel, arXiv 1606.08415)
//===----------------------------------------------------------------------===//

static constexpr double kSqrtHalf = 0.70710678118654752440;
static constexpr double kInvSqrt2Pi = 0.39894228040143267794;
static constexpr double kSqrt2OverPi = 0.79788456080286535588;
static constexpr double kCubic = 0.044715;

/// Phi(x), the normal distribution function: (1 + erf(x / sqrt 2)) / 2.
static Value normalCdf(ImplicitLocOpBuilder &b, Value x) {
  Value erf = math::ErfOp::create(b, mul(b, x, number(b, x, kSqrtHalf)));
  return mul(b, number(b, x, 0.5), add(b, number(b, x, 1), erf));
}
/// tanh(sqrt(2/pi) (x + 0.044715 x^3)).
static Value tanhOfCubic(ImplicitLocOpBuilder &b, Value x) {
  Value cube = mul(b, mul(b, x, x), x);
  Value inner = add(b, x, mul(b, number(b, x, kCubic), cube));
  return math::TanhOp::create(b, mul(b, number(b, x, kSqrt2OverPi), inner));
}

Scalars GeluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  if (getApproximate() == GeluApproximation::none)
    return {mul(b, x[0], normalCdf(b, x[0]))};
  Value half = mul(b, number(b, x[0], 0.5), x[0]);
  return {mul(b, half, add(b, number(b, x[0], 1), tanhOfCubic(b, x[0])))};
}

/// Phi(x) + x phi(x).
static Value exactSlope(ImplicitLocOpBuilder &b, Value x) {
  Value square = mul(b, mul(b, x, x), number(b, x, -0.5));
  Value density =
      mul(b, number(b, x, kInvSqrt2Pi), math::ExpOp::create(b, square));
  return add(b, normalCdf(b, x), mul(b, x, density));
}
/// (1 + t) / 2 + x (1 - t^2) / 2 * sqrt(2/pi) (1 + 3 * 0.044715 x^2), t the
/// tanh.
static Value tanhSlope(ImplicitLocOpBuilder &b, Value x) {
  Value t = tanhOfCubic(b, x), one = number(b, x, 1), half = number(b, x, 0.5);
  Value left = mul(b, half, add(b, one, t));
  Value inner =
      mul(b, number(b, x, kSqrt2OverPi),
          add(b, one, mul(b, number(b, x, 3 * kCubic), mul(b, x, x))));
  Value right =
      mul(b, mul(b, half, x), mul(b, sub(b, one, mul(b, t, t)), inner));
  return add(b, left, right);
}

Scalars GeluBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  bool exact = getApproximate() == GeluApproximation::none;
  return {mul(b, x[0], exact ? exactSlope(b, x[1]) : tanhSlope(b, x[1]))};
}
Gradients GeluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {GeluBackwardOp::create(b, g[0], getInput(), getApproximate())};
}

//===----------------------------------------------------------------------===//
// softplus: gradient from the operand
//===----------------------------------------------------------------------===//

LogicalResult SoftplusOp::verify() {
  if (getBeta().isZero() || !getBeta().isFinite())
    return emitOpError("expects a finite beta other than 0, not ")
           << getBeta().convertToDouble();
  return success();
}

/// Where beta * x exceeds the threshold, `beyond`; else `value`.
static Value byThreshold(ImplicitLocOpBuilder &b, Value scaled,
                         const APFloat &threshold, Value beyond, Value value) {
  Value bound = number(b, scaled, threshold.convertToDouble());
  Value isBeyond =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, scaled, bound);
  return arith::SelectOp::create(b, isBeyond, beyond, value);
}

/// log(1 + exp(z)) as max(z, 0) + log1p(exp(-|z|)), in which nothing overflows.
Scalars SoftplusOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value beta = number(b, x[0], getBeta().convertToDouble());
  Value z = mul(b, x[0], beta);
  Value decay = math::ExpOp::create(
      b, arith::NegFOp::create(b, math::AbsFOp::create(b, z)));
  Value above = arith::MaximumFOp::create(b, z, number(b, z, 0));
  Value sum = add(b, above, math::Log1pOp::create(b, decay));
  return {byThreshold(b, z, getThreshold(), x[0],
                      arith::DivFOp::create(b, sum, beta))};
}
/// The slope is the logistic function of z.
Scalars SoftplusBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange x) {
  Value z = mul(b, x[1], number(b, x[1], getBeta().convertToDouble()));
  Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, z));
  Value curved = arith::DivFOp::create(b, x[0], add(b, number(b, z, 1), decay));
  return {byThreshold(b, z, getThreshold(), x[0], curved)};
}
Gradients SoftplusOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {SoftplusBackwardOp::create(b, g[0], getInput(), getBeta(),
                                     getThreshold())};
}

//===----------------------------------------------------------------------===//
// silu, leaky_relu, elu: gradients from the operand
//===----------------------------------------------------------------------===//

/// 1 + exp(-x), of which the logistic function is the inverse.
static Value onePlusDecay(ImplicitLocOpBuilder &b, Value x) {
  Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  return add(b, number(b, x, 1), decay);
}
Scalars SiluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {div(b, x[0], onePlusDecay(b, x[0]))};
}
/// s (1 + x (1 - s)), s the logistic function of x.
Scalars SiluBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value one = number(b, x[1], 1);
  Value s = div(b, one, onePlusDecay(b, x[1]));
  Value slope = mul(b, s, add(b, one, mul(b, x[1], sub(b, one, s))));
  return {mul(b, x[0], slope)};
}
Gradients SiluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {SiluBackwardOp::create(b, g[0], getInput())};
}

template <typename Op>
static LogicalResult verifyFinite(Op op, StringRef name, const APFloat &value) {
  if (!value.isFinite())
    return op.emitOpError("expects a finite ")
           << name << ", not " << value.convertToDouble();
  return success();
}

/// Where x is above zero, `y`; else, and at NaN, `y` times the slope.
static Value leak(ImplicitLocOpBuilder &b, Value x, Value y,
                  const APFloat &slope) {
  Value above =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, number(b, x, 0));
  Value leaked = mul(b, y, number(b, y, slope.convertToDouble()));
  return arith::SelectOp::create(b, above, y, leaked);
}
LogicalResult LeakyReluOp::verify() {
  return verifyFinite(*this, "negative_slope", getNegativeSlope());
}
Scalars LeakyReluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {leak(b, x[0], x[0], getNegativeSlope())};
}
Scalars LeakyReluBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                          ValueRange x) {
  return {leak(b, x[1], x[0], getNegativeSlope())};
}
Gradients LeakyReluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {LeakyReluBackwardOp::create(b, g[0], getInput(), getNegativeSlope())};
}

/// Where x is at most zero, `curved`; else, and at NaN, `y`.
static Value bend(ImplicitLocOpBuilder &b, Value x, Value curved, Value y) {
  Value bends =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, x, number(b, x, 0));
  return arith::SelectOp::create(b, bends, curved, y);
}
LogicalResult EluOp::verify() {
  return verifyFinite(*this, "alpha", getAlpha());
}
Scalars EluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value alpha = number(b, x[0], getAlpha().convertToDouble());
  Value curved = mul(b, alpha, math::ExpM1Op::create(b, x[0]));
  return {bend(b, x[0], curved, x[0])};
}
Scalars EluBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value alpha = number(b, x[1], getAlpha().convertToDouble());
  Value slope = mul(b, alpha, math::ExpOp::create(b, x[1]));
  return {bend(b, x[1], mul(b, x[0], slope), x[0])};
}
Gradients EluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {EluBackwardOp::create(b, g[0], getInput(), getAlpha())};
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static OpSample sample(StringRef op, double low, double high, double gap = 0) {
  return {{{"tensor<3x5xf64>", low, high, gap}},
          (op + " : tensor<3x5xf64>").str()};
}
std::vector<OpSample> ReluOp::sampleInputs() {
  return {sample("mp.relu %0", -1, 1, 0.1)};
}
std::vector<OpSample> TanhOp::sampleInputs() {
  return {sample("mp.tanh %0", -2, 2)};
}
std::vector<OpSample> SigmoidOp::sampleInputs() {
  return {sample("mp.sigmoid %0", -3, 3)};
}
std::vector<OpSample> GeluOp::sampleInputs() {
  return {sample("mp.gelu %0", -3, 3),
          sample("mp.gelu %0 approximate(tanh)", -3, 3)};
}
// Away from the threshold, where the slope jumps to one.
std::vector<OpSample> SoftplusOp::sampleInputs() {
  return {sample("mp.softplus %0", -3, 3),
          sample("mp.softplus %0 {beta = -2.0, threshold = 4.0}", -1.5, 1.5),
          sample("mp.softplus %0 {beta = 2.0, threshold = 4.0}", 2.5, 5)};
}
std::vector<OpSample> SiluOp::sampleInputs() {
  return {sample("mp.silu %0", -3, 3)};
}
std::vector<OpSample> LeakyReluOp::sampleInputs() {
  return {sample("mp.leaky_relu %0", -1, 1, 0.1),
          sample("mp.leaky_relu %0 {negative_slope = -0.5}", -1, 1, 0.1)};
}
std::vector<OpSample> EluOp::sampleInputs() {
  return {sample("mp.elu %0", -2, 1, 0.1),
          sample("mp.elu %0 {alpha = 0.25}", -2, 1, 0.1)};
}
