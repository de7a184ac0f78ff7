//===- Lamb.cpp - LAMB ----------------------------------------------------===//
//
// The step's length needs two norms of a whole tensor, so that the update is a
// direction, two reductions, and a product. No bound is stated on it.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Lamb.h"
#include "dialect/UpdateRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Optimizer.h"
#include "dialect/ops/Reduction.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kFields[] = {
    {"lr", 1e-3, Domain::NotNegative},
    {"beta1", 0.9, Domain::Fraction},
    {"beta2", 0.999, Domain::Fraction},
    {"eps", 1e-6, Domain::NotNegative},
    {"weight_decay", 1e-2, Domain::NotNegative},
    {"maximize", 0, Domain::Flag}};

Attribute LambAttr::parse(AsmParser &parser, Type) {
  return parseFields<LambAttr>(parser, kFields);
}
void LambAttr::print(AsmPrinter &printer) const {
  printFields(printer, kFields,
              {getLr(), getBeta1(), getBeta2(), getEps(), getWeightDecay(),
               double(getMaximize())});
}
LogicalResult LambAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Number lr, Number beta1, Number beta2,
                               Number eps, Number decay, bool maximize) {
  return verifyFields(emitError, kFields,
                      {lr, beta1, beta2, eps, decay, double(maximize)});
}

SmallVector<SlotSpec> LambAttr::getSlots() const {
  return {{"exp_avg", 0}, {"exp_avg_sq", 0}};
}

/// The 2-norm, in f32.
static Value norm(ImplicitLocOpBuilder &b, Value x) {
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
  Value square = MulOp::create(b, x, x);
  Value sum =
      all.empty() ? square : Value(SumOp::create(b, square, all, false));
  return SqrtOp::create(b, castTo(b, sum, b.getF32Type()));
}

SmallVector<Value> LambAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                         Value parameter, Value gradient,
                                         ValueRange slots, Value learningRate,
                                         Value step) const {
  APFloat beta1(getBeta1()), beta2(getBeta2());
  Value correction1 = BiasCorrectionOp::create(b, step, beta1);
  Value correction2 = BiasCorrectionOp::create(b, step, beta2);
  auto direction = LambDirectionOp::create(
      b, parameter, gradient, slots[0], slots[1], correction1, correction2,
      beta1, beta2, APFloat(getEps()), APFloat(getWeightDecay()));

  // A norm that is zero or NaN makes no ratio.
  auto real = RankedTensorType::get({}, b.getF32Type());
  Value zero = splat(b, real, 0), one = splat(b, real, 1);
  Value own = norm(b, parameter), of = norm(b, direction.getDirection());
  Value known =
      AndOp::create(b, CompareOp::create(b, Comparison::gt, own, zero),
                    CompareOp::create(b, Comparison::gt, of, zero));
  Value trust = SelectOp::create(b, known, DivOp::create(b, own, of), one);
  Value length =
      castTo(b, MulOp::create(b, learningRate, trust), elementType(parameter));
  Value moved = MulOp::create(b, length, direction.getDirection());
  return {SubOp::create(b, parameter, moved), direction.getNewExpAvg(),
          direction.getNewExpAvgSq()};
}

//===----------------------------------------------------------------------===//
// The direction
//===----------------------------------------------------------------------===//

LogicalResult LambDirectionOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferUpdate(location,
                     {adaptor.getParameter(), adaptor.getGradient(),
                      adaptor.getExpAvg(), adaptor.getExpAvgSq()},
                     3, types);
}

SmallVector<Value> LambDirectionOp::buildScalars(ImplicitLocOpBuilder &b,
                                                 ValueRange x) {
  Type type = x[0].getType();
  auto c = [&](double value) { return number(b, type, value); };
  double beta1 = toDouble(getBeta1()), beta2 = toDouble(getBeta2());
  Value gradient = x[1];
  Value mean = add(b, mul(b, c(beta1), x[2]), mul(b, c(1 - beta1), gradient));
  Value square = mul(b, gradient, gradient);
  Value variance = add(b, mul(b, c(beta2), x[3]), mul(b, c(1 - beta2), square));
  Value unbiased = div(b, mean, widen(b, x[4], type));
  Value deviation = sqrt(b, div(b, variance, widen(b, x[5], type)));
  Value ratio = div(b, unbiased, add(b, deviation, c(toDouble(getEps()))));
  Value direction = addDecay(b, ratio, x[0], toDouble(getWeightDecay()));
  return {direction, mean, variance};
}
