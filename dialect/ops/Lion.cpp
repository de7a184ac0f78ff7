//===- Lion.cpp - Lion ----------------------------------------------------===//
#include "dialect/ops/Lion.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

SmallVector<SlotSpec> LionAttr::getSlots() const { return {{"exp_avg", 0}}; }
SmallVector<Value> LionAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                         Value parameter, Value gradient,
                                         ValueRange slots, Value learningRate,
                                         Value) const {
  auto op =
      LionOp::create(b, parameter, gradient, slots[0], learningRate, *this);
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

SmallVector<Value> LionOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  LionAttr lion = getOptimizer();
  auto [parameter, gradient, expAvg, learningRate] = expressions<4>(b, x);
  auto mix = [&](double beta) { return beta * expAvg + (1 - beta) * gradient; };
  Expression rate = learningRate.toTypeOf(parameter);
  Expression decay = parameter.number(lion.getWeightDecay());
  Expression keep = 1 - rate * decay;
  Expression update = rate * sign(mix(lion.getBeta1()));
  return {parameter * keep - update, mix(lion.getBeta2())};
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SmallVector<std::string> LionAttr::getMeasures() const { return {"magnitude"}; }

SmallVector<Value> LionAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                           Value parameter, ValueRange) const {
  return {magnitude(b, parameter)};
}

/// An element moves by the learning rate for any gradient and momentum.
SmallVector<Value> LionAttr::buildBounds(ImplicitLocOpBuilder &b,
                                         ValueRange bounds, Value,
                                         Value learningRate, Value) const {
  Expression parameter(b, bounds[0]), rate(b, learningRate);
  Expression keep = boundKept(rate, getWeightDecay());
  return {withSlack(parameter * keep + abs(rate))};
}
