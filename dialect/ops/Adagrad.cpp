//===- Adagrad.cpp - Adagrad ----------------------------------------------===//
#include "dialect/ops/Adagrad.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

SmallVector<SlotSpec> AdagradAttr::getSlots() const {
  return {{"sum", getInitialAccumulatorValue()}};
}

/// lr / (1 + (step - 1) lr_decay), the same for all elements.
static Expression decayedRate(Expression learningRate, Expression step,
                              double decay) {
  if (decay == 0)
    return learningRate;
  Expression before = (step - 1).to(elementType(learningRate));
  return learningRate / (1 + before * decay);
}

SmallVector<Value> AdagradAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                            Value parameter, Value gradient,
                                            ValueRange slots,
                                            Value learningRate,
                                            Value step) const {
  Value rate = decayedRate({b, learningRate}, {b, step}, getLrDecay());
  auto op = AdagradOp::create(b, parameter, gradient, rate, slots[0], *this);
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

SmallVector<Value> AdagradOp::buildScalars(ImplicitLocOpBuilder &b,
                                           ValueRange x) {
  AdagradAttr adagrad = getOptimizer();
  auto [parameter, gradient, learningRate, sum] = expressions<4>(b, x);
  Expression rate = learningRate.toTypeOf(parameter);
  Expression decayed = addDecay(gradient, parameter, adagrad.getWeightDecay());
  Expression newSum = sum + decayed * decayed;
  Expression update = decayed / (sqrt(newSum) + double(adagrad.getEps()));
  return {parameter - rate * update, newSum};
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// As the new sum contains g^2, |g| / (sqrt(sum) + eps) is at most 1, unless the
// square underflows: then it is at most k / eps.
SmallVector<std::string> AdagradAttr::getMeasures() const {
  if (getSparse())
    return {}; // the few rows are examined
  return {"magnitude"};
}

SmallVector<Value> AdagradAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                              Value parameter,
                                              ValueRange slots) const {
  // The root of a negative sum would be NaN.
  return {whereNotNegative(magnitude(b, parameter), {b, slots[0]})};
}

SmallVector<Value> AdagradAttr::buildBounds(ImplicitLocOpBuilder &b,
                                            ValueRange bounds,
                                            Value gradientNorm,
                                            Value learningRate,
                                            Value step) const {
  Expression parameter(b, bounds[0]);
  Expression rate = decayedRate({b, learningRate}, {b, step}, getLrDecay());
  Expression ratio =
      parameter.number(std::max(1.0, kUnderflow / double(getEps())));
  Expression after = withSlack(parameter + withSlack(abs(rate) * ratio));
  return {unlessDecayOverflows(after, {b, gradientNorm}, parameter,
                               getWeightDecay())};
}
