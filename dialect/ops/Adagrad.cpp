//===- Adagrad.cpp - Adagrad ----------------------------------------------===//
#include "dialect/ops/Adagrad.h"
#include "dialect/UpdateRules.h"
#include "dialect/ops/Arithmetic.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kFields[] = {
    {"lr", 1e-2, Domain::NotNegative},
    {"lr_decay", 0, Domain::NotNegative},
    {"weight_decay", 0, Domain::NotNegative},
    {"initial_accumulator_value", 0, Domain::NotNegative},
    {"eps", 1e-10, Domain::NotNegative},
    {"maximize", 0, Domain::Flag}};

Attribute AdagradAttr::parse(AsmParser &parser, Type) {
  return parseFields<AdagradAttr>(parser, kFields);
}
void AdagradAttr::print(AsmPrinter &printer) const {
  printFields(printer, kFields,
              {getLr(), getLrDecay(), getWeightDecay(),
               getInitialAccumulatorValue(), getEps(), double(getMaximize())});
}
LogicalResult AdagradAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Number lr, Number lrDecay, Number decay,
                                  Number initial, Number eps, bool maximize) {
  return verifyFields(emitError, kFields,
                      {lr, lrDecay, decay, initial, eps, double(maximize)});
}

SmallVector<SlotSpec> AdagradAttr::getSlots() const {
  return {{"sum", getInitialAccumulatorValue()}};
}

/// lr / (1 + (step - 1) lr_decay), one number for all elements.
static Value decayedRate(ImplicitLocOpBuilder &b, Value learningRate,
                         Value step, double decay) {
  if (decay == 0)
    return learningRate;
  auto type = RankedTensorType::get({}, b.getF32Type());
  Value one = splat(b, tensorType(step), 1);
  Value before = castTo(b, SubOp::create(b, step, one), b.getF32Type());
  Value grown = MulOp::create(b, before, splat(b, type, decay));
  return DivOp::create(b, learningRate,
                       AddOp::create(b, splat(b, type, 1), grown));
}

SmallVector<Value> AdagradAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                            Value parameter, Value gradient,
                                            ValueRange slots,
                                            Value learningRate,
                                            Value step) const {
  Value rate = decayedRate(b, learningRate, step, getLrDecay());
  auto op = AdagradOp::create(b, parameter, gradient, rate, slots[0],
                              APFloat(getEps()), APFloat(getWeightDecay()));
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

LogicalResult AdagradOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferUpdate(
      location,
      {adaptor.getParameter(), adaptor.getGradient(), adaptor.getSum()}, 2,
      types);
}

SmallVector<Value> AdagradOp::buildScalars(ImplicitLocOpBuilder &b,
                                           ValueRange x) {
  Type type = x[0].getType();
  Value rate = widen(b, x[2], type);
  Value gradient = addDecay(b, x[1], x[0], toDouble(getWeightDecay()));
  Value sum = add(b, x[3], mul(b, gradient, gradient));
  Value denominator = add(b, sqrt(b, sum), number(b, type, toDouble(getEps())));
  Value update = div(b, gradient, denominator);
  return {sub(b, x[0], mul(b, rate, update)), sum};
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// As the new sum holds g^2, |g| / (sqrt(sum) + eps) is at most 1, unless the
// square underflows: then at most k / eps.
SmallVector<std::string> AdagradAttr::getMeasures() const {
  return {"magnitude"};
}

SmallVector<Value> AdagradAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                              Value parameter,
                                              ValueRange slots) const {
  // The root of a negative sum would be NaN.
  return {Formula{b}.whereNotNegative(magnitude(b, parameter), slots[0])};
}

SmallVector<Value> AdagradAttr::buildBounds(ImplicitLocOpBuilder &b,
                                            ValueRange bounds,
                                            Value gradientNorm,
                                            Value learningRate,
                                            Value step) const {
  Formula f{b};
  Value rate = decayedRate(b, learningRate, step, getLrDecay());
  Value ratio = f.number(std::max(1.0, kUnderflow / double(getEps())));
  Value moved = f.widen(f.mul(f.abs(rate), ratio));
  Value after = f.widen(f.add(bounds[0], moved));
  // A gradient that overflows with its decay has no ratio.
  if (double decay = getWeightDecay()) {
    Value largest = f.add(f.largest(gradientNorm), f.mul(decay, bounds[0]));
    after = f.add(after, f.mul(0.0, f.widen(largest)));
  }
  return {after};
}
