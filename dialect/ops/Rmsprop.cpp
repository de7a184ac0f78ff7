//===- Rmsprop.cpp - RMSprop ----------------------------------------------===//
#include "dialect/ops/Rmsprop.h"
#include "dialect/UpdateRules.h"
#include <cmath>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

SmallVector<SlotSpec> RmspropAttr::getSlots() const {
  SmallVector<SlotSpec> slots{{"square_avg", 0}};
  if (getCentered())
    slots.push_back({"grad_avg", 0});
  if (double(getMomentum()) != 0)
    slots.push_back({"momentum_buffer", 0});
  return slots;
}
SmallVector<Value> RmspropAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                            Value parameter, Value gradient,
                                            ValueRange slots,
                                            Value learningRate, Value) const {
  auto op =
      RmspropOp::create(b, parameter, gradient, learningRate, slots, *this);
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

SmallVector<Value> RmspropOp::buildScalars(ImplicitLocOpBuilder &b,
                                           ValueRange x) {
  RmspropAttr rmsprop = getOptimizer();
  double alpha = rmsprop.getAlpha(), momentum = rmsprop.getMomentum();
  auto [parameter, gradient, learningRate, squareAvg] = expressions<4>(b, x);
  // Slots that only some fields need: grad_avg, then momentum_buffer.
  ValueRange optionalSlots = x.drop_front(4);
  Expression rate = learningRate.toTypeOf(parameter);
  Expression decayed = addDecay(gradient, parameter, rmsprop.getWeightDecay());
  Expression square = decayed * decayed;
  Expression mean = alpha * squareAvg + (1 - alpha) * square;
  SmallVector<Value> results{Value(), mean};
  Expression variance = mean;
  if (rmsprop.getCentered()) {
    Expression gradAvg(b, optionalSlots.front());
    Expression average = gradAvg + (1 - alpha) * (decayed - gradAvg);
    variance = mean - average * average;
    results.push_back(average);
  }
  Expression update = decayed / (sqrt(variance) + double(rmsprop.getEps()));
  if (momentum != 0) {
    update = momentum * Expression(b, optionalSlots.back()) + update;
    results.push_back(update);
  }
  results[0] = parameter - rate * update;
  return results;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// As v' >= (1 - alpha) g^2, |g| / (sqrt(v') + eps) is at most
// 1 / sqrt(1 - alpha), or k / eps if the square underflows. There is no bound
// for alpha = 0, where an infinite mean turns into NaN, nor for a centered
// variance, which may have any value.
SmallVector<std::string> RmspropAttr::getMeasures() const {
  if (getCentered() || double(getAlpha()) == 0 || double(getAlpha()) >= 1)
    return {};
  if (double(getMomentum()) == 0)
    return {"magnitude"};
  return {"magnitude", "momentum_magnitude"};
}

SmallVector<Value> RmspropAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                              Value parameter,
                                              ValueRange slots) const {
  // The root of a negative mean would be NaN.
  SmallVector<Value> measures{
      whereNotNegative(magnitude(b, parameter), {b, slots[0]})};
  if (slots.size() > 1)
    measures.push_back(magnitude(b, slots[1]));
  return measures;
}

SmallVector<Value> RmspropAttr::buildBounds(ImplicitLocOpBuilder &b,
                                            ValueRange bounds,
                                            Value gradientNorm,
                                            Value learningRate, Value) const {
  Expression parameter(b, bounds[0]), rate(b, learningRate);
  double share = std::sqrt(1 - double(getAlpha()));
  double floor = std::max(kUnderflow, 0x1p-61 / share);
  double ratio = std::max(1 / share, floor / double(getEps()));
  Expression update = withSlack(parameter.number(ratio));
  SmallVector<Value> after(1);
  if (bounds.size() > 1) {
    Expression buffer(b, bounds[1]);
    update = withSlack(double(getMomentum()) * buffer + update);
    after.push_back(update);
  }
  after[0] =
      unlessDecayOverflows(withSlack(parameter + abs(rate) * update),
                           {b, gradientNorm}, parameter, getWeightDecay());
  return after;
}
