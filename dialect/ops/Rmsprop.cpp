//===- Rmsprop.cpp - RMSprop ----------------------------------------------===//
#include "dialect/ops/Rmsprop.h"
#include "dialect/UpdateRules.h"
#include <cmath>

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kFields[] = {
    {"lr", 1e-2, Domain::NotNegative},
    {"alpha", 0.99, Domain::NotNegative},
    {"eps", 1e-8, Domain::NotNegative},
    {"weight_decay", 0, Domain::NotNegative},
    {"momentum", 0, Domain::NotNegative},
    {"centered", 0, Domain::Flag},
    {"maximize", 0, Domain::Flag}};

Attribute RmspropAttr::parse(AsmParser &parser, Type) {
  return parseFields<RmspropAttr>(parser, kFields);
}
void RmspropAttr::print(AsmPrinter &printer) const {
  printFields(printer, kFields,
              {getLr(), getAlpha(), getEps(), getWeightDecay(), getMomentum(),
               double(getCentered()), double(getMaximize())});
}
LogicalResult RmspropAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Number lr, Number alpha, Number eps,
                                  Number decay, Number momentum, bool centered,
                                  bool maximize) {
  return verifyFields(
      emitError, kFields,
      {lr, alpha, eps, decay, momentum, double(centered), double(maximize)});
}

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
  auto op = RmspropOp::create(b, parameter, gradient, learningRate, slots,
                              APFloat(getAlpha()), APFloat(getEps()),
                              APFloat(getWeightDecay()), APFloat(getMomentum()),
                              getCentered());
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

LogicalResult RmspropOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SmallVector<Value> tensors{adaptor.getParameter(), adaptor.getGradient()};
  llvm::append_range(tensors, adaptor.getSlots());
  return inferUpdate(location, tensors, adaptor.getSlots().size() + 1, types);
}

LogicalResult RmspropOp::verify() {
  size_t expected = 1 + getCentered() + !getMomentum().isZero();
  if (getSlots().size() != expected)
    return emitOpError() << "has " << getSlots().size() << " slots, expected "
                         << expected << ": square_avg"
                         << (getCentered() ? ", grad_avg" : "")
                         << (getMomentum().isZero() ? "" : ", momentum_buffer");
  return success();
}

SmallVector<Value> RmspropOp::buildScalars(ImplicitLocOpBuilder &b,
                                           ValueRange x) {
  Type type = x[0].getType();
  auto c = [&](double value) { return number(b, type, value); };
  double alpha = toDouble(getAlpha()), momentum = toDouble(getMomentum());
  Value rate = widen(b, x[2], type);
  Value gradient = addDecay(b, x[1], x[0], toDouble(getWeightDecay()));
  Value square = mul(b, gradient, gradient);
  Value mean = add(b, mul(b, c(alpha), x[3]), mul(b, c(1 - alpha), square));
  SmallVector<Value> results{Value(), mean};
  Value variance = mean;
  if (getCentered()) {
    Value average = add(b, x[4], mul(b, c(1 - alpha), sub(b, gradient, x[4])));
    variance = sub(b, mean, mul(b, average, average));
    results.push_back(average);
  }
  Value denominator = add(b, sqrt(b, variance), c(toDouble(getEps())));
  Value update = div(b, gradient, denominator);
  if (momentum != 0) {
    update = add(b, mul(b, c(momentum), x.back()), update);
    results.push_back(update);
  }
  results[0] = sub(b, x[0], mul(b, rate, update));
  return results;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// As v' >= (1 - alpha) g^2, |g| / (sqrt(v') + eps) is at most
// 1 / sqrt(1 - alpha), unless the square underflows: then at most k / eps. With
// alpha = 0 a mean that is infinite leaves NaN behind, and a variance about the
// mean may be anything.
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
  Formula f{b};
  // Its root would be NaN.
  SmallVector<Value> measures{
      f.whereNotNegative(magnitude(b, parameter), slots[0])};
  if (slots.size() > 1)
    measures.push_back(magnitude(b, slots[1]));
  return measures;
}

SmallVector<Value> RmspropAttr::buildBounds(ImplicitLocOpBuilder &b,
                                            ValueRange bounds,
                                            Value gradientNorm,
                                            Value learningRate, Value) const {
  Formula f{b};
  double share = std::sqrt(1 - double(getAlpha()));
  double floor = std::max(kUnderflow, 0x1p-61 / share);
  double ratio = std::max(1 / share, floor / double(getEps()));
  Value update = f.widen(f.number(ratio));
  SmallVector<Value> after(1);
  if (bounds.size() > 1) {
    update = f.widen(f.add(f.mul(double(getMomentum()), bounds[1]), update));
    after.push_back(update);
  }
  after[0] = f.widen(f.add(bounds[0], f.mul(f.abs(learningRate), update)));
  // A gradient that overflows with its decay has no ratio.
  if (double decay = getWeightDecay()) {
    Value largest = f.add(f.largest(gradientNorm), f.mul(decay, bounds[0]));
    after[0] = f.add(after[0], f.mul(0.0, f.widen(largest)));
  }
  return after;
}
