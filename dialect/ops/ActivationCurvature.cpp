//===- ActivationCurvature.cpp - second derivatives of activations --------===//
//
// The gradients of the *_backward ops, g * f'(x) or g * f'(x(y)): by g they are
// the op itself, by what was saved they are g times the second derivative,
// spelled with ops so that they have gradients in turn.
//
//===----------------------------------------------------------------------===//
#include "dialect/Wide.h"
#include "dialect/ops/Activation.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

/// A sample of "name %0, %1 attributes": a gradient and what was saved.
static OpSample sample(StringRef name, double low, double high, double gap = 0,
                       StringRef attributes = "", bool flat = false) {
  const char *type = "tensor<3x5xf64>";
  return {{{type}, {type, low, high, gap, flat}},
          (name + " %0, %1" + attributes + " : " + type + ", " + type).str()};
}

//===----------------------------------------------------------------------===//
// Of straight lines: nothing
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
  Wide w(b);
  Value product = w.mul(g[0], getGradient());
  return {TanhBackwardOp::create(b, g[0], getSaved()),
          w.mul(product, w.mul(getSaved(), -2))};
}
std::vector<OpSample> TanhBackwardOp::sampleInputs() {
  return {sample("mp.tanh_backward", -0.9, 0.9)};
}

/// The slope is (1 - y) y.
Gradients SigmoidBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Wide w(b);
  Value product = w.mul(g[0], getGradient());
  return {SigmoidBackwardOp::create(b, g[0], getSaved()),
          w.mul(product, w.sub(1, w.mul(getSaved(), 2)))};
}
std::vector<OpSample> SigmoidBackwardOp::sampleInputs() {
  return {sample("mp.sigmoid_backward", 0.05, 0.95)};
}

//===----------------------------------------------------------------------===//
// From the operand
//===----------------------------------------------------------------------===//

/// phi(x) (2 - x^2), phi the density of the normal distribution.
static Value exactCurvature(Wide &w, Value x) {
  constexpr double invSqrt2Pi = 0.39894228040143267794;
  Value square = w.mul(x, x);
  Value density = w.mul(w.exp(w.mul(square, -0.5)), invSqrt2Pi);
  return w.mul(density, w.sub(2, square));
}

/// With u = sqrt(2/pi) (x + c x^3), t = tanh u and t' = (1 - t^2) u':
/// (x (1 + t) / 2)'' = t' + x t'' / 2, where t'' = (1 - t^2) u'' - 2 t t' u'.
/// 1 - t^2 is spelled as 4 s(2u) s(-2u), s the logistic function, since it
/// would lose all digits where t is near one.
static Value tanhCurvature(Wide &w, Value x) {
  constexpr double scale = 0.79788456080286535588, cubic = 0.044715;
  Value square = w.mul(x, x);
  Value stretch = w.add(w.mul(square, cubic), 1);
  Value twice = w.mul(w.mul(x, stretch), 2 * scale);
  Value rising = w.make<SigmoidOp>(twice);
  Value falling = w.make<SigmoidOp>(w.neg(twice));
  Value t = w.sub(rising, falling);
  Value slack = w.mul(w.mul(rising, falling), 4);
  Value u1 = w.mul(w.add(w.mul(square, 3 * cubic), 1), scale);
  Value u2 = w.mul(x, 6 * cubic * scale);
  Value t1 = w.mul(slack, u1);
  Value bent = w.mul(slack, u2), turned = w.mul(w.mul(t, t1), w.mul(u1, 2));
  return w.add(t1, w.mul(w.mul(x, 0.5), w.sub(bent, turned)));
}

Gradients GeluBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  Wide w(b);
  Value x = w(getSaved());
  bool exact = getApproximate() == GeluApproximation::none;
  Value curvature = exact ? exactCurvature(w, x) : tanhCurvature(w, x);
  Value product = w.mul(g[0], getGradient());
  return {GeluBackwardOp::create(b, g[0], getSaved(), getApproximate()),
          w.mul(product, curvature)};
}
std::vector<OpSample> GeluBackwardOp::sampleInputs() {
  return {sample("mp.gelu_backward", -3, 3),
          sample("mp.gelu_backward", -3, 3, 0, " approximate(tanh)")};
}

/// beta s (1 - s), s the logistic function of beta * x; none beyond the
/// threshold.
Gradients SoftplusBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  Wide w(b);
  double beta = getBeta().convertToDouble();
  Value z = w.mul(getSaved(), beta), s = w.make<SigmoidOp>(z);
  Value curvature = w.mul(w.mul(s, w.sub(1, s)), beta);
  Value curved = w.mul(w.mul(g[0], getGradient()), curvature);
  Value beyond = w.is(Comparison::gt, z, getThreshold().convertToDouble());
  return {SoftplusBackwardOp::create(b, g[0], getSaved(), getBeta(),
                                     getThreshold()),
          w.select(beyond, w.number(z, 0), curved)};
}
std::vector<OpSample> SoftplusBackwardOp::sampleInputs() {
  return {sample("mp.softplus_backward", -3, 3),
          sample("mp.softplus_backward", -1.5, 1.5, 0,
                 " {beta = -2.0, threshold = 4.0}")};
}

/// s (1 - s) (2 + x (1 - 2 s)), s the logistic function.
Gradients SiluBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  Wide w(b);
  Value x = w(getSaved()), s = w.make<SigmoidOp>(x);
  Value turn = w.add(w.mul(x, w.sub(1, w.mul(s, 2))), 2);
  Value curvature = w.mul(w.mul(s, w.sub(1, s)), turn);
  Value product = w.mul(g[0], getGradient());
  return {SiluBackwardOp::create(b, g[0], getSaved()),
          w.mul(product, curvature)};
}
std::vector<OpSample> SiluBackwardOp::sampleInputs() {
  return {sample("mp.silu_backward", -3, 3)};
}

/// alpha exp(x) at most at zero, nothing above.
Gradients EluBackwardOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  Value x = w(getSaved());
  Value curvature = w.mul(w.exp(x), getAlpha().convertToDouble());
  Value curved = w.mul(w.mul(g[0], getGradient()), curvature);
  Value bends = w.is(Comparison::le, x, 0);
  return {EluBackwardOp::create(b, g[0], getSaved(), getAlpha()),
          w.select(bends, curved, w.number(x, 0))};
}
std::vector<OpSample> EluBackwardOp::sampleInputs() {
  return {sample("mp.elu_backward", -2, 1, 0.1, " {alpha = 0.25}")};
}
