//===- Math.cpp - functions of one element --------------------------------===//
#include "dialect/ops/Math.h"
#include "dialect/Accuracy.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Logic.h"

using namespace mlir;
using namespace mp;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

static const char *const kMatrix = "tensor<3x5xf64>";

static OpSample sample(StringRef op, double low, double high, double gap = 0,
                       bool flat = false) {
  return {{{kMatrix, low, high, gap, flat}}, (op + " : " + kMatrix).str()};
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

Scalars ExpOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  // An op that is a part of another one knows what the result is for.
  auto rounding = (*this)->getAttrOfType<TypeAttr>(kRoundsToAttr);
  auto argument = (*this)->getAttrOfType<IntegerAttr>(kArgumentAttr);
  return {expFor(rounding ? rounding.getValue() : elementType(getResult()),
                 Expression(b, x[0]),
                 argument ? ExpArgument(argument.getInt()) : ExpArgument::Any)};
}
Scalars Expm1Op::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {expm1(Expression(b, x[0]))};
}
Scalars LogOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {log(Expression(b, x[0]))};
}
Scalars Log1pOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {log1p(Expression(b, x[0]))};
}
Scalars ErfOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {erf(Expression(b, x[0]))};
}

Gradients ExpOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {MulOp::create(b, g[0], getResult())};
}
Gradients Expm1Op::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {Expression(b, g[0]) * (Expression(b, getResult()) + 1)};
}
Gradients LogOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {DivOp::create(b, g[0], getInput())};
}
Gradients Log1pOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {Expression(b, g[0]) / (Expression(b, getInput()) + 1)};
}
Gradients ErfOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  constexpr double twoOverSqrtPi = 1.12837916709551257390;
  Expression x(b, getInput());
  return {Expression(b, g[0]) * (exp(-(x * x)) * twoOverSqrtPi)};
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

Scalars SqrtOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {sqrt(Expression(b, x[0]))};
}
Scalars RsqrtOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {rsqrt(Expression(b, x[0]))};
}
Scalars ReciprocalOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {1 / Expression(b, x[0])};
}

Gradients SqrtOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Value twice = AddOp::create(b, getResult(), getResult());
  return {DivOp::create(b, g[0], twice)};
}
Gradients RsqrtOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Expression root(b, getResult());
  return {Expression(b, g[0]) * (root * root * root * -0.5)};
}
Gradients ReciprocalOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Expression inverse(b, getResult());
  return {-Expression(b, g[0]) * (inverse * inverse)};
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

/// The exponent of a power if it is one constant, which autocast may have cast.
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

/// x to the power of a constant as a few products, quotients and roots; nothing
/// if there is no such form.
static std::optional<Expression> cheapPower(Expression x, double exponent) {
  if (exponent == 0)
    return x.number(1);
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return x * x;
  if (exponent == 3)
    return x * x * x;
  if (exponent == 0.5)
    return sqrt(x);
  if (exponent == -0.5)
    return rsqrt(x);
  if (exponent == -1)
    return 1 / x;
  if (exponent == -2) {
    // 1 / x^2 would be zero where the square overflows.
    Expression root = 1 / x;
    return root * root;
  }
  return std::nullopt;
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
    if (auto cheap = cheapPower({b, x[0]}, *exponent))
      return {*cheap};
  return {pow(Expression(b, x[0]), Expression(b, x[1]))};
}

/// y x^(y - 1) and x^y log x, each zero where PyTorch's is.
Gradients PowOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Expression x(b, getBase()), y(b, getExponent()), power(b, getResult());
  Expression gradient(b, g[0]), zero = x.number(0);
  if (auto exponent = constantExponent(*this)) {
    if (*exponent == 0)
      return {Value(), Value()};
    return {gradient * (pow(x, *exponent - 1) * *exponent), Value()};
  }
  Expression less = y - 1;
  Expression slope = gradient * (y * pow(x, less));
  Expression base = select(y == 0, zero, slope);
  Expression growth = gradient * (power * log(x));
  Expression flat = (x == 0) & (y >= 0);
  return {base, select(flat, zero, growth)};
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
  return {sin(Expression(b, x[0]))};
}
Scalars CosOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {cos(Expression(b, x[0]))};
}

Gradients SinOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {Expression(b, g[0]) * cos(Expression(b, getInput()))};
}
Gradients CosOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {Expression(b, g[0]) * -sin(Expression(b, getInput()))};
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
  return {sign(Expression(b, x[0]))};
}
Scalars FloorOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {floor(Expression(b, x[0]))};
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
// Samples lie between integers.
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
  Expression y(b, x[0]);
  auto rounded = [&](const APFloat &bound) {
    return roundedTo(elementType(getInput()), bound);
  };
  if (auto bound = getMin())
    y = max(y, rounded(*bound));
  if (auto bound = getMax())
    y = min(y, rounded(*bound));
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
