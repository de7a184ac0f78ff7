//===- Math.cpp - functions of one element --------------------------------===//
#include "dialect/ops/Math.h"
#include "dialect/Scalars.h"
#include "dialect/Wide.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    auto type = inferElementwise(location, adaptor.getOperands());             \
    if (failed(type))                                                          \
      return failure();                                                        \
    types.push_back(*type);                                                    \
    return success();                                                          \
  }
MP_INFER(ExpOp)
MP_INFER(Expm1Op)
MP_INFER(LogOp)
MP_INFER(Log1pOp)
MP_INFER(ErfOp)
MP_INFER(SqrtOp)
MP_INFER(RsqrtOp)
MP_INFER(ReciprocalOp)
MP_INFER(PowOp)
MP_INFER(SinOp)
MP_INFER(CosOp)
MP_INFER(SignOp)
MP_INFER(FloorOp)
MP_INFER(ClampOp)
#undef MP_INFER

static const char *const kMatrix = "tensor<3x5xf64>";

static OpSample sample(StringRef op, double low, double high, double gap = 0,
                       bool flat = false) {
  return {{{kMatrix, low, high, gap, flat}}, (op + " : " + kMatrix).str()};
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

Scalars ExpOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::ExpOp::create(b, x[0])};
}
Scalars Expm1Op::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::ExpM1Op::create(b, x[0])};
}
Scalars LogOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::LogOp::create(b, x[0])};
}
Scalars Log1pOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::Log1pOp::create(b, x[0])};
}
Scalars ErfOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::ErfOp::create(b, x[0])};
}

Gradients ExpOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {MulOp::create(b, g[0], getResult())};
}
Gradients Expm1Op::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  return {w.mul(g[0], w.add(getResult(), 1))};
}
Gradients LogOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {DivOp::create(b, g[0], getInput())};
}
Gradients Log1pOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  return {w.div(g[0], w.add(getInput(), 1))};
}
Gradients ErfOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  constexpr double twoOverSqrtPi = 1.12837916709551257390;
  Wide w(b);
  Value decay = w.exp(w.neg(w.mul(getInput(), getInput())));
  return {w.mul(g[0], w.mul(decay, twoOverSqrtPi))};
}

std::vector<OpSample> ExpOp::sampleInputs() {
  return {sample("mp.exp %0", -2, 2)};
}
std::vector<OpSample> Expm1Op::sampleInputs() {
  return {sample("mp.expm1 %0", -2, 2)};
}
std::vector<OpSample> LogOp::sampleInputs() {
  return {sample("mp.log %0", 0.5, 3)};
}
std::vector<OpSample> Log1pOp::sampleInputs() {
  return {sample("mp.log1p %0", -0.5, 3)};
}
std::vector<OpSample> ErfOp::sampleInputs() {
  return {sample("mp.erf %0", -2, 2)};
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

static Value inverse(ImplicitLocOpBuilder &b, Value x) {
  return div(b, number(b, x, 1), x);
}

Scalars SqrtOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {scalars::sqrt(b, x[0])};
}
Scalars RsqrtOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::RsqrtOp::create(b, x[0])};
}
Scalars ReciprocalOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {inverse(b, x[0])};
}

Gradients SqrtOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Value twice = AddOp::create(b, getResult(), getResult());
  return {DivOp::create(b, g[0], twice)};
}
Gradients RsqrtOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  Value cube = w.mul(w.mul(getResult(), getResult()), getResult());
  return {w.mul(g[0], w.mul(cube, -0.5))};
}
Gradients ReciprocalOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  return {w.mul(w.neg(g[0]), w.mul(getResult(), getResult()))};
}

std::vector<OpSample> SqrtOp::sampleInputs() {
  return {sample("mp.sqrt %0", 0.5, 3)};
}
std::vector<OpSample> RsqrtOp::sampleInputs() {
  return {sample("mp.rsqrt %0", 0.5, 3)};
}
std::vector<OpSample> ReciprocalOp::sampleInputs() {
  return {sample("mp.reciprocal %0", -2, 2, 0.5)};
}

static double roundedTo(Type element, APFloat value) {
  bool losesInfo;
  value.convert(cast<FloatType>(element).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::getValueAsDouble(value);
}

/// The exponent of a power, where it is one constant: autocast may have cast
/// it.
static std::optional<double> constantExponent(PowOp op) {
  Value exponent = op.getExponent();
  if (auto cast = exponent.getDefiningOp<CastOp>())
    exponent = cast.getInput();
  auto constant = exponent.getDefiningOp<ConstantOp>();
  auto value = constant ? splatValue(constant.getValue()) : std::nullopt;
  if (!value)
    return std::nullopt;
  return roundedTo(elementType(op.getExponent()), APFloat(*value));
}

/// x to the power of a constant as a few products, quotients and roots; null
/// where there is no such form.
static Value cheapPower(ImplicitLocOpBuilder &b, Value x, double exponent) {
  if (exponent == 0)
    return number(b, x, 1);
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return mul(b, x, x);
  if (exponent == 3)
    return mul(b, mul(b, x, x), x);
  if (exponent == 0.5)
    return scalars::sqrt(b, x);
  if (exponent == -0.5)
    return math::RsqrtOp::create(b, x);
  if (exponent == -1)
    return inverse(b, x);
  if (exponent == -2) {
    // Not 1 / x^2, which is zero where the square is infinite.
    Value root = inverse(b, x);
    return mul(b, root, root);
  }
  return {};
}
static bool isCheapPower(double exponent) {
  return llvm::is_contained({-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0},
                            exponent);
}

bool PowOp::isExpensive() {
  auto exponent = constantExponent(*this);
  return !exponent || !isCheapPower(*exponent);
}
Scalars PowOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  if (auto exponent = constantExponent(*this))
    if (Value cheap = cheapPower(b, x[0], *exponent))
      return {cheap};
  return {math::PowFOp::create(b, x[0], x[1])};
}

/// y x^(y - 1) and x^y log x, each zero where PyTorch says so.
Gradients PowOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  Value x = getBase(), y = getExponent(), zero = w.number(x, 0);
  if (auto exponent = constantExponent(*this)) {
    if (*exponent == 0)
      return {Value(), Value()};
    Value power = w.make<PowOp>(x, w.number(x, *exponent - 1));
    return {w.mul(g[0], w.mul(power, *exponent)), Value()};
  }
  Value less = w.sub(y, w.number(y, 1));
  Value slope = w.mul(g[0], w.mul(y, w.make<PowOp>(x, less)));
  Value base = w.select(w.is(Comparison::eq, y, 0), zero, slope);
  Value growth = w.mul(g[0], w.mul(getResult(), w.make<LogOp>(x)));
  Value flat =
      AndOp::create(b, w.is(Comparison::eq, x, 0), w.is(Comparison::ge, y, 0));
  return {base, w.select(flat, zero, growth)};
}

std::vector<OpSample> PowOp::sampleInputs() {
  OperandSample base{kMatrix, 0.5, 2};
  std::vector<OpSample> samples;
  for (std::string type : {"tensor<3x5xf64>", "tensor<5xf64>", "tensor<f64>"})
    samples.push_back(
        {{base, {type, -2, 3}}, "mp.pow %0, %1 : tensor<3x5xf64>, " + type});
  return samples;
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  bool isOne = splatValue(adaptor.getExponent()) == 1.0;
  return isOne && getBase().getType() == getType() ? getBase() : Value();
}

//===----------------------------------------------------------------------===//
// Waves
//===----------------------------------------------------------------------===//

Scalars SinOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::SinOp::create(b, x[0])};
}
Scalars CosOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::CosOp::create(b, x[0])};
}

Gradients SinOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  return {w.mul(g[0], w.make<CosOp>(getInput()))};
}
Gradients CosOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Wide w(b);
  return {w.mul(g[0], w.neg(w.make<SinOp>(getInput())))};
}

std::vector<OpSample> SinOp::sampleInputs() {
  return {sample("mp.sin %0", -4, 4)};
}
std::vector<OpSample> CosOp::sampleInputs() {
  return {sample("mp.cos %0", -4, 4)};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Scalars SignOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  using P = arith::CmpFPredicate;
  Value zero = number(b, x[0], 0);
  Value below = arith::CmpFOp::create(b, P::OLT, x[0], zero);
  Value above = arith::CmpFOp::create(b, P::OGT, x[0], zero);
  Value negative = arith::SelectOp::create(b, below, number(b, x[0], -1), zero);
  return {arith::SelectOp::create(b, above, number(b, x[0], 1), negative)};
}
Scalars FloorOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::FloorOp::create(b, x[0])};
}

Gradients SignOp::buildGradients(ImplicitLocOpBuilder &, ValueRange) {
  return {Value()};
}
Gradients FloorOp::buildGradients(ImplicitLocOpBuilder &, ValueRange) {
  return {Value()};
}

std::vector<OpSample> SignOp::sampleInputs() {
  return {sample("mp.sign %0", -2, 2, 0.1, /*flat=*/true)};
}
// Between whole numbers.
std::vector<OpSample> FloorOp::sampleInputs() {
  return {sample("mp.floor %0", 3.1, 3.9, 0, /*flat=*/true),
          sample("mp.floor %0", -0.9, -0.1, 0, /*flat=*/true)};
}

LogicalResult ClampOp::verify() {
  if (!getMin() && !getMax())
    return emitOpError("expects a bound, min or max");
  for (StringRef name : {"min", "max"})
    if (auto bound = (*this)->getAttrOfType<FloatAttr>(name);
        bound && bound.getValue().isNaN())
      return emitOpError("expects a number as ") << name << ", not NaN";
  return success();
}

Scalars ClampOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  auto bound = [&](const APFloat &value) {
    return number(b, x[0], roundedTo(elementType(getInput()), value));
  };
  Value y = x[0];
  if (auto min = getMin())
    y = arith::MaximumFOp::create(b, y, bound(*min));
  if (auto max = getMax())
    y = arith::MinimumFOp::create(b, y, bound(*max));
  return {y};
}
Gradients ClampOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  auto scalar = RankedTensorType::get({}, elementType(getInput()));
  auto bounded = [&](Value gradient, std::optional<APFloat> bound,
                     Comparison relation) -> Value {
    if (!bound)
      return gradient;
    Value limit = splat(b, scalar, bound->convertToDouble());
    Value inside = CompareOp::create(b, relation, getInput(), limit);
    return SelectOp::create(b, inside, gradient, splat(b, scalar, 0));
  };
  return {bounded(bounded(g[0], getMin(), Comparison::gt), getMax(),
                  Comparison::lt)};
}
std::vector<OpSample> ClampOp::sampleInputs() {
  return {sample("mp.clamp %0 {max = 0.5, min = -0.5}", -1, 1),
          sample("mp.clamp %0 {min = 0.0}", -1, 1, 0.1),
          sample("mp.clamp %0 {max = 0.0}", -1, 1, 0.1)};
}
