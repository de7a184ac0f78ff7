//===- Activation.cpp - activations and their gradients -------------------===//
//
// Second derivatives are in ActivationCurvature.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Activation.h"
#include "dialect/ops/NarrowActivation.h"

using namespace mlir;
using namespace mp;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// relu, tanh, sigmoid: gradients from the result
//===----------------------------------------------------------------------===//

Scalars ReluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {max(Expression(b, x[0]), 0)};
}
Scalars ReluBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  auto [gradient, saved] = expressions<2>(b, x);
  Expression zero = gradient.number(0);
  // "not <= 0" rather than "> 0", as PyTorch passes the gradient at NaN.
  return {select(saved <= zero, zero, gradient)};
}
Gradients ReluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {ReluBackwardOp::create(b, g[0], getResult())};
}

Scalars TanhOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {tanh(Expression(b, x[0]))};
}
Scalars TanhBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  auto [gradient, y] = expressions<2>(b, x);
  return {gradient * (1 - y * y)};
}
Gradients TanhOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {TanhBackwardOp::create(b, g[0], getResult())};
}

Scalars SigmoidOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Expression input(b, x[0]);
  if (isNarrowFloat(elementType(getResult())))
    return {narrowSigmoid(input, elementType(getResult()))};
  return {sigmoid(input)};
}
Scalars SigmoidBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  auto [gradient, y] = expressions<2>(b, x);
  return {gradient * ((1 - y) * y)};
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
static Expression normalCdf(Expression x) {
  return 0.5 * (1 + erf(x * kSqrtHalf));
}
/// tanh(sqrt(2/pi) (x + 0.044715 x^3)).
static Expression tanhOfCubic(Expression x) {
  return tanh(kSqrt2OverPi * (x + kCubic * (x * x * x)));
}

Scalars GeluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange operands) {
  Expression x(b, operands[0]);
  bool exact = getApproximate() == GeluApproximation::none;
  if (Type type = elementType(getResult()); isNarrowFloat(type))
    return {exact ? narrowGelu(x, type) : narrowTanhGelu(x, type)};
  if (exact)
    return {x * normalCdf(x)};
  return {0.5 * x * (1 + tanhOfCubic(x))};
}

/// Phi(x) + x phi(x).
static Expression exactSlope(Expression x) {
  Expression density = kInvSqrt2Pi * exp(x * x * -0.5);
  return normalCdf(x) + x * density;
}
/// (1 + t) / 2 + x (1 - t^2) / 2 * sqrt(2/pi) (1 + 3 * 0.044715 x^2), t the
/// tanh.
static Expression tanhSlope(Expression x) {
  Expression t = tanhOfCubic(x), one = x.number(1), half = x.number(0.5);
  Expression inner = kSqrt2OverPi * (one + 3 * kCubic * (x * x));
  return half * (one + t) + half * x * ((one - t * t) * inner);
}

Scalars GeluBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  bool exact = getApproximate() == GeluApproximation::none;
  if (Type type = elementType(getResult()); isNarrowFloat(type))
    return {gradient *
            (exact ? narrowGeluSlope(x, type) : narrowTanhGeluSlope(x))};
  return {gradient * (exact ? exactSlope(x) : tanhSlope(x))};
}
Gradients GeluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {GeluBackwardOp::create(b, g[0], getInput(), getApproximate())};
}

//===----------------------------------------------------------------------===//
// softplus: gradient from the operand
//===----------------------------------------------------------------------===//

/// 1 + exp(-x), whose reciprocal is the logistic function.
static Expression onePlusDecay(Expression x) { return 1 + exp(-x); }

LogicalResult SoftplusOp::verify() {
  if (getBeta().isZero() || !getBeta().isFinite())
    return emitOpError("expects a finite beta other than 0, not ")
           << getBeta().convertToDouble();
  return success();
}

/// log(1 + exp(z)) as max(z, 0) + log1p(exp(-|z|)), which does not overflow.
Scalars SoftplusOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange operands) {
  Expression x(b, operands[0]);
  Expression beta = x.number(getBeta().convertToDouble());
  Expression z = x * beta;
  Expression decay = exp(-abs(z));
  Expression sum = max(z, 0) + log1p(decay);
  Expression smooth = sum / beta;
  return {select(z > getThreshold().convertToDouble(), x, smooth)};
}
/// The slope is the logistic function of z.
Scalars SoftplusBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  Expression z = x * getBeta().convertToDouble();
  Expression curved = gradient / onePlusDecay(z);
  return {select(z > getThreshold().convertToDouble(), gradient, curved)};
}
Gradients SoftplusOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {SoftplusBackwardOp::create(b, g[0], getInput(), getBeta(),
                                     getThreshold())};
}

//===----------------------------------------------------------------------===//
// silu, leaky_relu, elu: gradients from the operand
//===----------------------------------------------------------------------===//

Scalars SiluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange operands) {
  Expression x(b, operands[0]);
  if (Type type = elementType(getResult()); isNarrowFloat(type))
    return {narrowSilu(x, type)};
  return {x / onePlusDecay(x)};
}
/// s (1 + x (1 - s)), where s is the logistic function of x.
Scalars SiluBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  if (isNarrowFloat(elementType(getResult())))
    return {gradient * narrowSiluSlope(x)};
  Expression one = x.number(1);
  Expression s = one / onePlusDecay(x);
  return {gradient * (s * (one + x * (one - s)))};
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

/// `y` where x is positive; elsewhere, and at NaN, `y` times the slope.
static Expression leak(Expression x, Expression y, const APFloat &slope) {
  Expression above = x > 0;
  return select(above, y, y * slope.convertToDouble());
}
LogicalResult LeakyReluOp::verify() {
  return verifyFinite(*this, "negative_slope", getNegativeSlope());
}
Scalars LeakyReluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {leak({b, x[0]}, {b, x[0]}, getNegativeSlope())};
}
Scalars LeakyReluBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                          ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  return {leak(x, gradient, getNegativeSlope())};
}
Gradients LeakyReluOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {LeakyReluBackwardOp::create(b, g[0], getInput(), getNegativeSlope())};
}

LogicalResult EluOp::verify() {
  return verifyFinite(*this, "alpha", getAlpha());
}
Scalars EluOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange operands) {
  Expression x(b, operands[0]);
  Expression curved = getAlpha().convertToDouble() * expm1(x);
  return {select(x <= 0, curved, x)};
}
Scalars EluBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                    ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  Expression curved = gradient * (getAlpha().convertToDouble() * exp(x));
  return {select(x <= 0, curved, gradient)};
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
// Samples are away from the threshold, where the slope jumps to one.
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
