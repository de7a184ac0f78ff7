//===- Lion.cpp - Lion ----------------------------------------------------===//
#include "dialect/ops/Lion.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kFields[] = {
    {"lr", 1e-4, Domain::NotNegative},
    {"beta1", 0.9, Domain::Fraction},
    {"beta2", 0.99, Domain::Fraction},
    {"weight_decay", 0, Domain::NotNegative},
    {"maximize", 0, Domain::Flag}};

Attribute LionAttr::parse(AsmParser &parser, Type) {
  return parseFields<LionAttr>(parser, kFields);
}
void LionAttr::print(AsmPrinter &printer) const {
  printFields(printer, kFields,
              {getLr(), getBeta1(), getBeta2(), getWeightDecay(),
               double(getMaximize())});
}
LogicalResult LionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Number lr, Number beta1, Number beta2,
                               Number decay, bool maximize) {
  return verifyFields(emitError, kFields,
                      {lr, beta1, beta2, decay, double(maximize)});
}

SmallVector<SlotSpec> LionAttr::getSlots() const { return {{"exp_avg", 0}}; }
SmallVector<Value> LionAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                         Value parameter, Value gradient,
                                         ValueRange slots, Value learningRate,
                                         Value) const {
  auto op = LionOp::create(b, parameter, gradient, slots[0], learningRate,
                           APFloat(getBeta1()), APFloat(getBeta2()),
                           APFloat(getWeightDecay()));
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

LogicalResult LionOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferUpdate(
      location,
      {adaptor.getParameter(), adaptor.getGradient(), adaptor.getExpAvg()}, 2,
      types);
}

/// One, minus one, or for zero and NaN zero.
static Value sign(ImplicitLocOpBuilder &b, Value x) {
  Value zero = number(b, x, 0);
  Value isLess = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
  Value isMore = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, zero);
  Value notMore = arith::SelectOp::create(b, isLess, number(b, x, -1), zero);
  return arith::SelectOp::create(b, isMore, number(b, x, 1), notMore);
}

SmallVector<Value> LionOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Type type = x[0].getType();
  double beta1 = toDouble(getBeta1()), beta2 = toDouble(getBeta2());
  auto mix = [&](double beta) {
    return add(b, mul(b, number(b, type, beta), x[2]),
               mul(b, number(b, type, 1 - beta), x[1]));
  };
  Value rate = widen(b, x[3], type);
  Value decay = number(b, type, toDouble(getWeightDecay()));
  Value keep = sub(b, number(b, type, 1), mul(b, rate, decay));
  Value update = mul(b, rate, sign(b, mix(beta1)));
  return {sub(b, mul(b, x[0], keep), update), mix(beta2)};
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SmallVector<std::string> LionAttr::getMeasures() const { return {"magnitude"}; }

SmallVector<Value> LionAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                           Value parameter, ValueRange) const {
  return {magnitude(b, parameter)};
}

/// An element moves by the learning rate, whatever gradient and momentum are.
SmallVector<Value> LionAttr::buildBounds(ImplicitLocOpBuilder &b,
                                         ValueRange bounds, Value,
                                         Value learningRate, Value) const {
  Formula f{b};
  Value decay = f.mul(double(getWeightDecay()), learningRate);
  Value keep = f.add(f.abs(f.sub(f.number(1), decay)), f.number(0x1p-22));
  return {f.widen(f.add(f.mul(bounds[0], keep), f.abs(learningRate)))};
}
