//===- Adam.cpp - Adam and AdamW ------------------------------------------===//
//
// Both optimizers have one update, and differ in where they apply decay.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Adam.h"
#include "dialect/UpdateRules.h"
#include "dialect/ops/Optimizer.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// The attributes
//===----------------------------------------------------------------------===//

template <typename Attr> static SmallVector<SlotSpec> slotsOf(Attr a) {
  SmallVector<SlotSpec> slots{{"exp_avg", 0}, {"exp_avg_sq", 0}};
  if (a.getAmsgrad())
    slots.push_back({"max_exp_avg_sq", 0});
  return slots;
}
SmallVector<SlotSpec> AdamAttr::getSlots() const { return slotsOf(*this); }
SmallVector<SlotSpec> AdamWAttr::getSlots() const { return slotsOf(*this); }

template <typename Op, typename Attr>
static SmallVector<Value>
buildUpdateOf(Attr a, ImplicitLocOpBuilder &b, Value parameter, Value gradient,
              ValueRange slots, Value learningRate, Value step) {
  APFloat beta1(a.getBeta1()), beta2(a.getBeta2());
  Value correction1 = BiasCorrectionOp::create(b, step, beta1);
  Value correction2 = BiasCorrectionOp::create(b, step, beta2);
  auto op = Op::create(b, parameter, gradient, slots[0], slots[1], learningRate,
                       correction1, correction2,
                       a.getAmsgrad() ? slots[2] : Value(), a);
  return SmallVector<Value>(op->getResults());
}
SmallVector<Value> AdamAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                         Value parameter, Value gradient,
                                         ValueRange slots, Value learningRate,
                                         Value step) const {
  return buildUpdateOf<AdamOp>(*this, b, parameter, gradient, slots,
                               learningRate, step);
}
SmallVector<Value> AdamWAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                          Value parameter, Value gradient,
                                          ValueRange slots, Value learningRate,
                                          Value step) const {
  return buildUpdateOf<AdamWOp>(*this, b, parameter, gradient, slots,
                                learningRate, step);
}

//===----------------------------------------------------------------------===//
// The updates
//===----------------------------------------------------------------------===//

/// The step from `decayed`. The operands are in the op's order.
template <typename Attr>
static SmallVector<Value> buildAdam(Attr adam, ImplicitLocOpBuilder &b,
                                    ValueRange operands, Expression decayed,
                                    Expression gradient) {
  auto [parameter, _, expAvg, expAvgSq, learningRate, correction1,
        correction2] = expressions<7>(b, operands);
  double beta1 = adam.getBeta1(), beta2 = adam.getBeta2();
  Expression rate = learningRate.toTypeOf(parameter),
             unbiased1 = correction1.toTypeOf(parameter),
             unbiased2 = correction2.toTypeOf(parameter);
  Expression mean = expAvg + (1 - beta1) * (gradient - expAvg);
  Expression square = gradient * gradient;
  Expression variance = beta2 * expAvgSq + (1 - beta2) * square;
  Expression largest = adam.getAmsgrad()
                           ? max(Expression(b, operands.back()), variance)
                           : variance;
  double eps = adam.getEps();
  Expression update =
      isSparse(adam)
          ? rate * sqrt(unbiased2) / unbiased1 * (mean / (sqrt(largest) + eps))
          : rate / unbiased1 * (mean / (sqrt(largest) / sqrt(unbiased2) + eps));
  SmallVector<Value> results{decayed - update, mean, variance};
  if (adam.getAmsgrad())
    results.push_back(largest);
  return results;
}

SmallVector<Value> AdamOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  AdamAttr adam = getOptimizer();
  auto [parameter, gradient] = expressions<2>(b, x);
  Expression decayed = addDecay(gradient, parameter, adam.getWeightDecay());
  return buildAdam(adam, b, x, parameter, decayed);
}

SmallVector<Value> AdamWOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange x) {
  AdamWAttr adam = getOptimizer();
  auto [parameter, gradient, expAvg, expAvgSq, learningRate] =
      expressions<5>(b, x);
  Expression decay = parameter.number(adam.getWeightDecay());
  Expression keep = 1 - learningRate.toTypeOf(parameter) * decay;
  return buildAdam(adam, b, x, parameter * keep, gradient);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// An element moves by its mean over the root of its variance. Call their ratio
// r = max |m| / (sqrt(v) + k), where k covers underflow. An update makes
// |m'| <= beta1 |m| + (1 - beta1) |g| and v' = beta2 v + (1 - beta2) g^2, so by
// Cauchy and Schwarz
//   |m'| / sqrt(v') <= sqrt(beta1^2 / beta2 r^2 + (1 - beta1)^2 / (1 - beta2)),
// for any g, decay included. If beta1^2 < beta2, as in all recipes in use, r
// has a limit (7.3 for 0.9 and 0.999). AMSGrad's divisor is no smaller.
static constexpr double kRatioFloor = kUnderflow;

SmallVector<std::string> AdamAttr::getMeasures() const {
  if (getSparse())
    return {}; // the few rows are examined
  return {"magnitude", "moment_ratio"};
}
SmallVector<std::string> AdamWAttr::getMeasures() const {
  return {"magnitude", "moment_ratio"};
}

static SmallVector<Value> buildMeasuresOf(ImplicitLocOpBuilder &b,
                                          Value parameter, ValueRange slots) {
  Expression mean = magnitude(b, slots[0]);
  Expression deviation = sqrt(Expression(b, slots[1]).to(b.getF32Type()));
  Expression ratio = mean / (deviation + kRatioFloor);
  // The ratio does not show a NaN in the largest second moment.
  if (slots.size() > 2)
    ratio = unlessNaN(ratio, {b, slots[2]});
  return {magnitude(b, parameter), ratio};
}
SmallVector<Value> AdamAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                           Value parameter,
                                           ValueRange slots) const {
  return buildMeasuresOf(b, parameter, slots);
}
SmallVector<Value> AdamWAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                            Value parameter,
                                            ValueRange slots) const {
  return buildMeasuresOf(b, parameter, slots);
}

namespace {
struct AdamStep {
  Expression ratio; ///< bound on the new ratio
  Expression moved; ///< bound on the movement of an element, without decay
};
} // namespace

template <typename Attr>
static AdamStep boundStep(Attr adam, ImplicitLocOpBuilder &b, Expression before,
                          Value learningRate, Value step) {
  double beta1 = adam.getBeta1(), beta2 = adam.getBeta2();
  // m + (1 - beta1) (g - m) may round like a slightly larger beta1.
  double kept = (beta1 + 0x1p-20) * (beta1 + 0x1p-20) / beta2;
  double fresh = (1 - beta1) * (1 - beta1) / (1 - beta2);
  Expression ratio = withSlack(sqrt(kept * (before * before) + fresh));

  // (sqrt(v') + k) / (sqrt(v') / sqrt(c2) + eps) <= max(sqrt(c2), k / eps)
  Expression correction1(b, BiasCorrectionOp::create(b, step, APFloat(beta1)));
  Expression correction2(b, BiasCorrectionOp::create(b, step, APFloat(beta2)));
  Expression rescaled =
      max(sqrt(correction2), kRatioFloor / double(adam.getEps()));
  Expression stepSize = abs(Expression(b, learningRate)) / correction1;
  return {ratio, stepSize * (ratio * rescaled)};
}

SmallVector<Value> AdamAttr::buildBounds(ImplicitLocOpBuilder &b,
                                         ValueRange bounds, Value gradientNorm,
                                         Value learningRate, Value step) const {
  auto [parameter, ratio] = expressions<2>(b, bounds);
  AdamStep bound = boundStep(*this, b, ratio, learningRate, step);
  Expression after = withSlack(parameter + bound.moved);
  return {unlessDecayOverflows(after, {b, gradientNorm}, parameter,
                               getWeightDecay()),
          bound.ratio};
}

SmallVector<Value> AdamWAttr::buildBounds(ImplicitLocOpBuilder &b,
                                          ValueRange bounds, Value,
                                          Value learningRate,
                                          Value step) const {
  auto [parameter, ratio] = expressions<2>(b, bounds);
  AdamStep bound = boundStep(*this, b, ratio, learningRate, step);
  Expression keep = boundKept({b, learningRate}, getWeightDecay());
  return {withSlack(parameter * keep + bound.moved), bound.ratio};
}
