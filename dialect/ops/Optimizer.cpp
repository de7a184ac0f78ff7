//===- Optimizer.cpp - update rules and their recipes ---------------------===//
#include "dialect/Scalars.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

/// The learning rate in the parameter's compute type (f32, or f64 for
/// reference).
static Value widen(ImplicitLocOpBuilder &b, Value x, Type type) {
  return x.getType() == type ? x : Value(arith::ExtFOp::create(b, type, x));
}
static double toDouble(const APFloat &value) { return value.convertToDouble(); }

/// All tensors of an update have the parameter's type.
static LogicalResult checkSame(std::optional<Location> location,
                               ValueRange tensors, unsigned results,
                               SmallVectorImpl<Type> &types) {
  Type type = tensors.front().getType();
  for (Value tensor : tensors)
    if (tensor.getType() != type)
      return emitOptionalError(location, "the parameter is ", type,
                               " but its gradient or state is ",
                               tensor.getType());
  types.append(results, type);
  return success();
}

//===----------------------------------------------------------------------===//
// sgd
//===----------------------------------------------------------------------===//

LogicalResult SgdOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  SmallVector<Value> tensors{adaptor.getParameter(), adaptor.getGradient()};
  if (adaptor.getBuffer())
    tensors.push_back(adaptor.getBuffer());
  return checkSame(location, tensors, adaptor.getBuffer() ? 2 : 1, types);
}

LogicalResult SgdOp::verify() {
  if (getMomentum().isZero() == bool(getBuffer()))
    return emitOpError() << (getBuffer() ? "has a buffer but no momentum"
                                         : "has momentum but no buffer");
  return success();
}

SmallVector<Value> SgdOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value parameter = x[0], update = x[1];
  Type type = parameter.getType();
  if (double decay = toDouble(getWeightDecay()))
    update = add(b, update, mul(b, number(b, type, decay), parameter));
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
// adamw
//===----------------------------------------------------------------------===//

LogicalResult BiasCorrectionOp::inferReturnTypes(MLIRContext *context,
                                                 std::optional<Location>,
                                                 Adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, Float32Type::get(context)));
  return success();
}

SmallVector<Value> BiasCorrectionOp::buildScalars(ImplicitLocOpBuilder &b,
                                                  ValueRange x) {
  Type f64 = b.getF64Type();
  Value step = arith::SIToFPOp::create(b, f64, x[0]);
  Value power =
      math::PowFOp::create(b, number(b, f64, toDouble(getBeta())), step);
  return {arith::TruncFOp::create(b, b.getF32Type(),
                                  sub(b, number(b, f64, 1), power))};
}

LogicalResult AdamWOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return checkSame(location,
                   {adaptor.getParameter(), adaptor.getGradient(),
                    adaptor.getExpAvg(), adaptor.getExpAvgSq()},
                   3, types);
}

SmallVector<Value> AdamWOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange x) {
  Type type = x[0].getType();
  auto c = [&](double value) { return number(b, type, value); };
  double beta1 = toDouble(getBeta1()), beta2 = toDouble(getBeta2());
  Value rate = widen(b, x[4], type), correction1 = widen(b, x[5], type),
        correction2 = widen(b, x[6], type);
  Value gradient = x[1];

  Value keep = sub(b, c(1), mul(b, rate, c(toDouble(getWeightDecay()))));
  Value decayed = mul(b, x[0], keep);
  Value mean = add(b, x[2], mul(b, c(1 - beta1), sub(b, gradient, x[2])));
  Value square = mul(b, gradient, gradient);
  Value variance = add(b, mul(b, c(beta2), x[3]), mul(b, c(1 - beta2), square));
  Value denominator = add(b, div(b, sqrt(b, variance), sqrt(b, correction2)),
                          c(toDouble(getEps())));
  Value stepSize = div(b, rate, correction1);
  Value update = mul(b, stepSize, div(b, mean, denominator));
  return {sub(b, decayed, update), mean, variance};
}

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

double SgdAttr::getLearningRate() const { return getLr(); }
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

double AdamWAttr::getLearningRate() const { return getLr(); }
SmallVector<SlotSpec> AdamWAttr::getSlots() const {
  return {{"exp_avg", 0}, {"exp_avg_sq", 0}};
}
SmallVector<Value> AdamWAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                          Value parameter, Value gradient,
                                          ValueRange slots, Value learningRate,
                                          Value step) const {
  Value correction1 = BiasCorrectionOp::create(b, step, APFloat(getBeta1()));
  Value correction2 = BiasCorrectionOp::create(b, step, APFloat(getBeta2()));
  auto op = AdamWOp::create(b, parameter, gradient, slots[0], slots[1],
                            learningRate, correction1, correction2,
                            APFloat(getBeta1()), APFloat(getBeta2()),
                            APFloat(getEps()), APFloat(getWeightDecay()));
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

FailureOr<Value> ConstantScheduleAttr::buildFactor(ImplicitLocOpBuilder &,
                                                   Value, int64_t) const {
  return Value();
}

FailureOr<Value> LinearScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                                 Value applied,
                                                 int64_t totalSteps) const {
  int64_t steps = getSteps() ? getSteps() : totalSteps;
  if (steps <= 0)
    return emitError(b.getLoc()) << "a linear schedule needs a length: give it "
                                    "`steps`, or the pipeline `total-steps`";
  auto integer = RankedTensorType::get({}, b.getI64Type()),
       real = RankedTensorType::get({}, b.getF32Type());
  Value last = splat(b, integer, steps);
  Value reached =
      castTo(b, MinimumOp::create(b, applied, last), b.getF32Type());
  Value share = DivOp::create(b, reached, splat(b, real, steps));
  Value moved = MulOp::create(b, share, splat(b, real, getTo() - getFrom()));
  return Value(AddOp::create(b, moved, splat(b, real, getFrom())));
}
