//===- Adam.cpp - Adam and AdamW ------------------------------------------===//
//
// Both are one update, and differ in where the decay goes.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Adam.h"
#include "dialect/UpdateRules.h"
#include "dialect/ops/Optimizer.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// The attributes
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kAdam[] = {{"lr", 1e-3, Domain::NotNegative},
                                      {"beta1", 0.9, Domain::Fraction},
                                      {"beta2", 0.999, Domain::Fraction},
                                      {"eps", 1e-8, Domain::NotNegative},
                                      {"weight_decay", 0, Domain::NotNegative},
                                      {"amsgrad", 0, Domain::Flag},
                                      {"maximize", 0, Domain::Flag}};
static constexpr FieldSpec kAdamW[] = {
    {"lr", 1e-3, Domain::NotNegative},
    {"beta1", 0.9, Domain::Fraction},
    {"beta2", 0.999, Domain::Fraction},
    {"eps", 1e-8, Domain::NotNegative},
    {"weight_decay", 1e-2, Domain::NotNegative},
    {"amsgrad", 0, Domain::Flag},
    {"maximize", 0, Domain::Flag}};

template <typename Attr> static SmallVector<double> valuesOf(Attr a) {
  return {a.getLr(),
          a.getBeta1(),
          a.getBeta2(),
          a.getEps(),
          a.getWeightDecay(),
          double(a.getAmsgrad()),
          double(a.getMaximize())};
}

Attribute AdamAttr::parse(AsmParser &parser, Type) {
  return parseFields<AdamAttr>(parser, kAdam);
}
void AdamAttr::print(AsmPrinter &printer) const {
  printFields(printer, kAdam, valuesOf(*this));
}
LogicalResult AdamAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Number lr, Number beta1, Number beta2,
                               Number eps, Number decay, bool amsgrad,
                               bool maximize) {
  return verifyFields(
      emitError, kAdam,
      {lr, beta1, beta2, eps, decay, double(amsgrad), double(maximize)});
}

Attribute AdamWAttr::parse(AsmParser &parser, Type) {
  return parseFields<AdamWAttr>(parser, kAdamW);
}
void AdamWAttr::print(AsmPrinter &printer) const {
  printFields(printer, kAdamW, valuesOf(*this));
}
LogicalResult AdamWAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Number lr, Number beta1, Number beta2,
                                Number eps, Number decay, bool amsgrad,
                                bool maximize) {
  return verifyFields(
      emitError, kAdamW,
      {lr, beta1, beta2, eps, decay, double(amsgrad), double(maximize)});
}

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
                       a.getAmsgrad() ? slots[2] : Value(), beta1, beta2,
                       APFloat(a.getEps()), APFloat(a.getWeightDecay()));
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

template <typename Adaptor>
static LogicalResult inferAdam(std::optional<Location> location, Adaptor a,
                               SmallVectorImpl<Type> &types) {
  SmallVector<Value> tensors{a.getParameter(), a.getGradient(), a.getExpAvg(),
                             a.getExpAvgSq()};
  if (a.getMaxExpAvgSq())
    tensors.push_back(a.getMaxExpAvgSq());
  return inferUpdate(location, tensors, tensors.size() - 1, types);
}
LogicalResult AdamOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferAdam(location, adaptor, types);
}
LogicalResult AdamWOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return inferAdam(location, adaptor, types);
}

/// `decayed` is what the step is taken from. The operands' order is the op's.
template <typename Op>
static SmallVector<Value> buildAdam(Op op, ImplicitLocOpBuilder &b,
                                    ValueRange x, Value decayed,
                                    Value gradient) {
  Type type = x[0].getType();
  auto c = [&](double value) { return number(b, type, value); };
  double beta1 = toDouble(op.getBeta1()), beta2 = toDouble(op.getBeta2());
  Value rate = widen(b, x[4], type), correction1 = widen(b, x[5], type),
        correction2 = widen(b, x[6], type);
  Value mean = add(b, x[2], mul(b, c(1 - beta1), sub(b, gradient, x[2])));
  Value square = mul(b, gradient, gradient);
  Value variance = add(b, mul(b, c(beta2), x[3]), mul(b, c(1 - beta2), square));
  SmallVector<Value> results{Value(), mean, variance};
  Value divisor = variance;
  if (op.getMaxExpAvgSq()) {
    divisor = arith::MaximumFOp::create(b, x[7], variance);
    results.push_back(divisor);
  }
  Value denominator = add(b, div(b, sqrt(b, divisor), sqrt(b, correction2)),
                          c(toDouble(op.getEps())));
  Value stepSize = div(b, rate, correction1);
  Value update = mul(b, stepSize, div(b, mean, denominator));
  results[0] = sub(b, decayed, update);
  return results;
}

SmallVector<Value> AdamOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value gradient = addDecay(b, x[1], x[0], toDouble(getWeightDecay()));
  return buildAdam(*this, b, x, x[0], gradient);
}

SmallVector<Value> AdamWOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange x) {
  Type type = x[0].getType();
  Value decay = number(b, type, toDouble(getWeightDecay()));
  Value keep = sub(b, number(b, type, 1), mul(b, widen(b, x[4], type), decay));
  return buildAdam(*this, b, x, mul(b, x[0], keep), x[1]);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// What an element moves by is its mean over the root of its variance. Call
// their ratio r = max |m| / (sqrt(v) + k), where k stands for what underflows.
// An update makes |m'| <= beta1 |m| + (1 - beta1) |g| and
// v' = beta2 v + (1 - beta2) g^2, so by Cauchy and Schwarz
//   |m'| / sqrt(v') <= sqrt(beta1^2 / beta2 r^2 + (1 - beta1)^2 / (1 - beta2)),
// whatever g is, decay included. Where beta1^2 < beta2, as in all recipes in
// use, that has a limit (7.3 for 0.9 and 0.999). AMSGrad divides by no less.
static constexpr double kRatioFloor = kUnderflow;

SmallVector<std::string> AdamAttr::getMeasures() const {
  return {"magnitude", "moment_ratio"};
}
SmallVector<std::string> AdamWAttr::getMeasures() const {
  return {"magnitude", "moment_ratio"};
}

static SmallVector<Value> buildMeasuresOf(ImplicitLocOpBuilder &b,
                                          Value parameter, ValueRange slots) {
  Formula f{b};
  Value mean = magnitude(b, slots[0]);
  Value deviation = f.sqrt(castTo(b, slots[1], b.getF32Type()));
  Value ratio = f.div(mean, f.add(deviation, f.number(kRatioFloor)));
  // The ratio does not show a largest moment that is NaN.
  if (slots.size() > 2)
    ratio = f.unlessNaN(ratio, slots[2]);
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
  Value ratio; ///< bound on the new one
  Value moved; ///< bound on what an element moves by, decay apart
};
} // namespace

template <typename Attr>
static AdamStep boundStep(Attr a, ImplicitLocOpBuilder &b, Value before,
                          Value learningRate, Value step) {
  Formula f{b};
  double beta1 = a.getBeta1(), beta2 = a.getBeta2();
  // m + (1 - beta1) (g - m) rounds as if a little more of m were kept.
  double kept = (beta1 + 0x1p-20) * (beta1 + 0x1p-20) / beta2;
  double fresh = (1 - beta1) * (1 - beta1) / (1 - beta2);
  Value ratio = f.widen(
      f.sqrt(f.add(f.mul(kept, f.mul(before, before)), f.number(fresh))));

  // (sqrt(v') + k) / (sqrt(v') / sqrt(c2) + eps) <= max(sqrt(c2), k / eps)
  Value correction1 = BiasCorrectionOp::create(b, step, APFloat(beta1));
  Value correction2 = BiasCorrectionOp::create(b, step, APFloat(beta2));
  Value rescaled =
      f.max(f.sqrt(correction2), f.number(kRatioFloor / double(a.getEps())));
  Value stepSize = f.div(f.abs(learningRate), correction1);
  return {ratio, f.mul(stepSize, f.mul(ratio, rescaled))};
}

SmallVector<Value> AdamAttr::buildBounds(ImplicitLocOpBuilder &b,
                                         ValueRange bounds, Value gradientNorm,
                                         Value learningRate, Value step) const {
  Formula f{b};
  AdamStep bound = boundStep(*this, b, bounds[1], learningRate, step);
  Value after = f.widen(f.add(bounds[0], bound.moved));
  // A gradient that overflows with its decay has no ratio.
  if (double decay = getWeightDecay()) {
    Value largest = f.add(f.largest(gradientNorm), f.mul(decay, bounds[0]));
    after = f.add(after, f.mul(0.0, f.widen(largest)));
  }
  return {after, bound.ratio};
}

SmallVector<Value> AdamWAttr::buildBounds(ImplicitLocOpBuilder &b,
                                          ValueRange bounds, Value,
                                          Value learningRate,
                                          Value step) const {
  Formula f{b};
  AdamStep bound = boundStep(*this, b, bounds[1], learningRate, step);
  Value decay = f.mul(double(getWeightDecay()), learningRate);
  Value keep = f.add(f.abs(f.sub(f.number(1), decay)), f.number(0x1p-22));
  return {f.widen(f.add(f.mul(bounds[0], keep), bound.moved)), bound.ratio};
}
