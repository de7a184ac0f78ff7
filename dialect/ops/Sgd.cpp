//===- Sgd.cpp - stochastic gradient descent ------------------------------===//
#include "dialect/ops/Sgd.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kFields[] = {
    {"lr", 1e-3, Domain::NotNegative}, {"momentum", 0, Domain::NotNegative},
    {"dampening", 0, Domain::Any},     {"weight_decay", 0, Domain::NotNegative},
    {"nesterov", 0, Domain::Flag},     {"maximize", 0, Domain::Flag}};

Attribute SgdAttr::parse(AsmParser &parser, Type) {
  return parseFields<SgdAttr>(parser, kFields);
}
void SgdAttr::print(AsmPrinter &printer) const {
  printFields(printer, kFields,
              {getLr(), getMomentum(), getDampening(), getWeightDecay(),
               double(getNesterov()), double(getMaximize())});
}
LogicalResult SgdAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              Number lr, Number momentum, Number dampening,
                              Number decay, bool nesterov, bool maximize) {
  if (failed(verifyFields(emitError, kFields,
                          {lr, momentum, dampening, decay, double(nesterov),
                           double(maximize)})))
    return failure();
  if (nesterov && (double(momentum) <= 0 || double(dampening) != 0))
    return emitError() << "nesterov needs a momentum and no dampening";
  return success();
}

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
                          slots.empty() ? Value() : slots[0],
                          APFloat(getMomentum()), APFloat(getDampening()),
                          APFloat(getWeightDecay()), getNesterov());
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

LogicalResult SgdOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  SmallVector<Value> tensors{adaptor.getParameter(), adaptor.getGradient()};
  if (adaptor.getBuffer())
    tensors.push_back(adaptor.getBuffer());
  return inferUpdate(location, tensors, adaptor.getBuffer() ? 2 : 1, types);
}

LogicalResult SgdOp::verify() {
  if (getMomentum().isZero() == bool(getBuffer()))
    return emitOpError() << (getBuffer() ? "has a buffer but no momentum"
                                         : "has momentum but no buffer");
  return success();
}

SmallVector<Value> SgdOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value parameter = x[0];
  Type type = parameter.getType();
  Value update = addDecay(b, x[1], parameter, toDouble(getWeightDecay()));
  SmallVector<Value> results(1);
  if (getBuffer()) {
    double momentum = toDouble(getMomentum());
    Value kept = mul(b, number(b, type, momentum), x[4]);
    Value moved = add(
        b, kept, mul(b, number(b, type, 1 - toDouble(getDampening())), update));
    Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x[3], one);
    Value buffer = arith::SelectOp::create(b, isFirst, update, moved);
    update = getNesterov()
                 ? add(b, update, mul(b, number(b, type, momentum), buffer))
                 : buffer;
    results.push_back(buffer);
  }
  results[0] = sub(b, parameter, mul(b, widen(b, x[2], type), update));
  return results;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SmallVector<std::string> SgdAttr::getMeasures() const {
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

/// The triangle inequality on each line of the update.
SmallVector<Value> SgdAttr::buildBounds(ImplicitLocOpBuilder &b,
                                        ValueRange bounds, Value gradientNorm,
                                        Value learningRate, Value) const {
  Formula f{b};
  double momentum = getMomentum();
  Value update = f.widen(f.add(f.largest(gradientNorm),
                               f.mul(double(getWeightDecay()), bounds[0])));
  SmallVector<Value> after(1);
  if (bounds.size() > 1) {
    double fresh = std::abs(1 - double(getDampening()));
    Value moved = f.add(f.mul(momentum, bounds[1]), f.mul(fresh, update));
    Value buffer = f.widen(f.max(update, moved));
    update = getNesterov() ? f.widen(f.add(update, f.mul(momentum, buffer)))
                           : buffer;
    after.push_back(buffer);
  }
  after[0] = f.widen(f.add(bounds[0], f.mul(f.abs(learningRate), update)));
  return after;
}
