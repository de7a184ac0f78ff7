//===- Sgd.cpp - stochastic gradient descent ------------------------------===//
#include "dialect/ops/Sgd.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

SmallVector<SlotSpec> SgdAttr::getSlots() const {
  if (double(getMomentum()) == 0)
    return {};
  return {{"momentum_buffer", 0}};
}
SmallVector<Value> SgdAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                        Value parameter, Value gradient,
                                        ValueRange slots, Value learningRate,
                                        Value step) const {
  auto op = SgdOp::create(b, parameter, gradient, learningRate, step,
                          slots.empty() ? Value() : slots[0], *this);
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

SmallVector<Value> SgdOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  SgdAttr sgd = getOptimizer();
  double momentum = sgd.getMomentum(), dampening = sgd.getDampening();
  auto [parameter, gradient, learningRate, step] = expressions<4>(b, x);
  Expression update = addDecay(gradient, parameter, sgd.getWeightDecay());
  SmallVector<Value> results(1);
  if (getBuffer()) {
    Expression moved =
        momentum * Expression(b, x.back()) + (1 - dampening) * update;
    Expression buffer = select(step == 1, update, moved);
    update = sgd.getNesterov() ? update + momentum * buffer : buffer;
    results.push_back(buffer);
  }
  results[0] = parameter - learningRate.toTypeOf(parameter) * update;
  return results;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SmallVector<std::string> SgdAttr::getMeasures() const {
  if (getSparse())
    return {}; // the few rows are examined
  if (getSlots().empty())
    return {"magnitude"};
  return {"magnitude", "momentum_magnitude"};
}

SmallVector<Value> SgdAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                          Value parameter,
                                          ValueRange slots) const {
  SmallVector<Value> measures{magnitude(b, parameter)};
  for (Value slot : slots)
    measures.push_back(magnitude(b, slot));
  return measures;
}

/// Applies the triangle inequality to each line of the update.
SmallVector<Value> SgdAttr::buildBounds(ImplicitLocOpBuilder &b,
                                        ValueRange bounds, Value gradientNorm,
                                        Value learningRate, Value) const {
  Expression parameter(b, bounds[0]), norm(b, gradientNorm);
  Expression rate(b, learningRate);
  double momentum = getMomentum();
  Expression update =
      withSlack(largestElement(norm) + double(getWeightDecay()) * parameter);
  SmallVector<Value> after(1);
  if (bounds.size() > 1) {
    double fresh = std::abs(1 - double(getDampening()));
    Expression moved = momentum * Expression(b, bounds[1]) + fresh * update;
    Expression buffer = withSlack(max(update, moved));
    update = getNesterov() ? withSlack(update + momentum * buffer) : buffer;
    after.push_back(buffer);
  }
  after[0] = withSlack(parameter + abs(rate) * update);
  return after;
}
