//===- ActivationCurvature.cpp - second derivatives of activations --------===//
//
// Gradients of the *_backward ops, g * f'(x) or g * f'(x(y)). The gradient for
// g is the op itself; the gradient for the saved value is g times the second
// derivative, built from ops that have gradients in turn.
//
//===----------------------------------------------------------------------===//
#include "dialect/Expression.h"
#include "dialect/ops/Activation.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

/// A sample of "name %0, %1 attributes": a gradient and the saved value.
static OpSample sample(StringRef name, double low, double high, double gap = 0,
                       StringRef attributes = "", bool flat = false) {
  const char *type = "tensor<3x5xf64>";
  return {{{type}, {type, low, high, gap, flat}},
          (name + " %0, %1" + attributes + " : " + type + ", " + type).str()};
}

//===----------------------------------------------------------------------===//
// Straight lines have no curvature
//===----------------------------------------------------------------------===//

Gradients ReluBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  return {ReluBackwardOp::create(b, g[0], getSaved()), Value()};
}
std::vector<OpSample> ReluBackwardOp::sampleInputs() {
  return {sample("mp.relu_backward", -1, 1, 0.1, "", /*flat=*/true)};
}

Gradients LeakyReluBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                              ValueRange g) {
  return {LeakyReluBackwardOp::create(b, g[0], getSaved(), getNegativeSlope()),
          Value()};
}
std::vector<OpSample> LeakyReluBackwardOp::sampleInputs() {
  return {sample("mp.leaky_relu_backward", -1, 1, 0.1,
                 " {negative_slope = 0.2}", /*flat=*/true)};
}

//===----------------------------------------------------------------------===//
// From the result
//===----------------------------------------------------------------------===//

/// The slope is 1 - y^2.
Gradients TanhBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  Expression y(b, getSaved()), gradient(b, getGradient());
  Expression product = Expression(b, g[0]) * gradient;
  return {TanhBackwardOp::create(b, g[0], y), product * (y * -2)};
}
std::vector<OpSample> TanhBackwardOp::sampleInputs() {
  return {sample("mp.tanh_backward", -0.9, 0.9)};
}

/// The slope is (1 - y) y.
Gradients SigmoidBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Expression y(b, getSaved()), gradient(b, getGradient());
  Expression product = Expression(b, g[0]) * gradient;
  return {SigmoidBackwardOp::create(b, g[0], y), product * (1 - y * 2)};
}
std::vector<OpSample> SigmoidBackwardOp::sampleInputs() {
  return {sample("mp.sigmoid_backward", 0.05, 0.95)};
}

//===----------------------------------------------------------------------===//
// From the operand
//===----------------------------------------------------------------------===//

/// phi(x) (2 - x^2), where phi is the density of the normal distribution.
static Expression exactCurvature(Expression x) {
  constexpr double invSqrt2Pi = 0.39894228040143267794;
  Expression square = x * x;
  Expression density = exp(square * -0.5) * invSqrt2Pi;
  return density * (2 - square);
}

/// With u = sqrt(2/pi) (x + c x^3), t = tanh u and t' = (1 - t^2) u':
/// (x (1 + t) / 2)'' = t' + x t'' / 2, where t'' = (1 - t^2) u'' - 2 t t' u'.
/// 1 - t^2 is computed as 4 s(2u) s(-2u) with the logistic function s, since
/// the subtraction would lose all digits where t is near one.
static Expression tanhCurvature(Expression x) {
  constexpr double scale = 0.79788456080286535588, cubic = 0.044715;
  Expression square = x * x;
  Expression stretch = square * cubic + 1;
  Expression twice = x * stretch * (2 * scale);
  Expression rising = sigmoid(twice), falling = sigmoid(-twice);
  Expression t = rising - falling;
  Expression slack = rising * falling * 4;
  Expression u1 = (square * (3 * cubic) + 1) * scale;
  Expression u2 = x * (6 * cubic * scale);
  Expression t1 = slack * u1;
  Expression bent = slack * u2, turned = t * t1 * (u1 * 2);
  return t1 + x * 0.5 * (bent - turned);
}

Gradients GeluBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  Expression x = Expression(b, getSaved()).wide();
  bool exact = getApproximate() == GeluApproximation::none;
  Expression curvature = exact ? exactCurvature(x) : tanhCurvature(x);
  Expression product = Expression(b, g[0]) * Expression(b, getGradient());
  return {GeluBackwardOp::create(b, g[0], getSaved(), getApproximate()),
          product * curvature};
}
std::vector<OpSample> GeluBackwardOp::sampleInputs() {
  return {sample("mp.gelu_backward", -3, 3),
          sample("mp.gelu_backward", -3, 3, 0, " approximate(tanh)")};
}

/// beta s (1 - s), where s is the logistic function of beta * x; zero beyond
/// the threshold.
Gradients SoftplusBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  double beta = getBeta().convertToDouble();
  Expression z = Expression(b, getSaved()) * beta, s = sigmoid(z);
  Expression curvature = s * (1 - s) * beta;
  Expression product = Expression(b, g[0]) * Expression(b, getGradient());
  Expression curved = product * curvature;
  Expression beyond = z > getThreshold().convertToDouble();
  return {SoftplusBackwardOp::create(b, g[0], getSaved(), getBeta(),
                                     getThreshold()),
          select(beyond, 0, curved)};
}
std::vector<OpSample> SoftplusBackwardOp::sampleInputs() {
  return {sample("mp.softplus_backward", -3, 3),
          sample("mp.softplus_backward", -1.5, 1.5, 0,
                 " {beta = -2.0, threshold = 4.0}")};
}

/// s (1 - s) (2 + x (1 - 2 s)), where s is the logistic function.
Gradients SiluBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  Expression x = Expression(b, getSaved()).wide(), s = sigmoid(x);
  Expression turn = x * (1 - s * 2) + 2;
  Expression curvature = s * (1 - s) * turn;
  Expression product = Expression(b, g[0]) * Expression(b, getGradient());
  return {SiluBackwardOp::create(b, g[0], getSaved()), product * curvature};
}
std::vector<OpSample> SiluBackwardOp::sampleInputs() {
  return {sample("mp.silu_backward", -3, 3)};
}

/// alpha exp(x) for x <= 0, zero above.
Gradients EluBackwardOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Expression x = Expression(b, getSaved()).wide();
  Expression curvature = exp(x) * getAlpha().convertToDouble();
  Expression product = Expression(b, g[0]) * Expression(b, getGradient());
  Expression curved = product * curvature;
  Expression bends = x <= 0;
  return {EluBackwardOp::create(b, g[0], getSaved(), getAlpha()),
          select(bends, curved, 0)};
}
std::vector<OpSample> EluBackwardOp::sampleInputs() {
  return {sample("mp.elu_backward", -2, 1, 0.1, " {alpha = 0.25}")};
}
