//===- Expression.cpp - operators that build arithmetic ops ---------------===//
#include "dialect/Expression.h"
#include "dialect/ops/Activation.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Constants and types
//===----------------------------------------------------------------------===//

Expression Expression::constant(ImplicitLocOpBuilder &b, Type type,
                                double number) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr value;
  if (isa<FloatType>(element))
    value = b.getFloatAttr(element, number);
  else
    value = b.getIntegerAttr(element, static_cast<int64_t>(number));
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return {b, arith::ConstantOp::create(b, value)};
}

/// The element type in which a tensor is computed; integers keep their type and
/// signedness.
static Type wideElement(Value tensor) {
  Type element = elementType(tensor);
  return isa<FloatType>(element) ? computeType(element) : element;
}

Expression Expression::number(double constant) const {
  if (isTensor()) {
    auto type = RankedTensorType::get({}, wideElement(value));
    return {*b, splat(*b, type, constant)};
  }
  return Expression::constant(*b, value.getType(), constant);
}

Expression Expression::wide() const {
  return value && isTensor() ? to(wideElement(value)) : *this;
}

/// The type itself, or a vector of it in the shape of `like`.
static Type inShapeOf(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

Expression Expression::to(Type element) const {
  if (isTensor())
    return {*b, castTo(*b, value, element)};
  Type from = getElementTypeOrSelf(value), type = inShapeOf(getType(), element);
  if (from == element)
    return *this;
  if (!isa<FloatType>(from))
    return {*b, arith::SIToFPOp::create(*b, type, value)};
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return {*b, arith::ExtFOp::create(*b, type, value)};
  return {*b, arith::TruncFOp::create(*b, type, value)};
}

Expression mp::bitcast(Expression x, Type element) {
  auto &b = x.builder();
  Type type = inShapeOf(x.getType(), element);
  return {b, arith::BitcastOp::create(b, type, Value(x))};
}
Expression mp::zeroExtend(Expression x, unsigned width) {
  auto &b = x.builder();
  Type type = inShapeOf(x.getType(), b.getIntegerType(width));
  return {b, arith::ExtUIOp::create(b, type, Value(x))};
}
Expression mp::truncate(Expression x, unsigned width) {
  auto &b = x.builder();
  Type type = inShapeOf(x.getType(), b.getIntegerType(width));
  return {b, arith::TruncIOp::create(b, type, Value(x))};
}

//===----------------------------------------------------------------------===//
// Functions of one value
//===----------------------------------------------------------------------===//

template <typename ScalarOp, typename TensorOp>
static Expression build(Expression x) {
  auto &b = x.builder();
  if (x.isTensor())
    return {b, TensorOp::create(b, Value(x.wide()))};
  return {b, ScalarOp::create(b, Value(x))};
}

Expression mp::operator-(Expression x) {
  return build<arith::NegFOp, NegOp>(x);
}
Expression mp::abs(Expression x) { return build<math::AbsFOp, AbsOp>(x); }
Expression mp::cos(Expression x) { return build<math::CosOp, CosOp>(x); }
Expression mp::erf(Expression x) { return build<math::ErfOp, ErfOp>(x); }
Expression mp::exp(Expression x) { return build<math::ExpOp, ExpOp>(x); }
Expression mp::expm1(Expression x) { return build<math::ExpM1Op, Expm1Op>(x); }
Expression mp::floor(Expression x) { return build<math::FloorOp, FloorOp>(x); }
Expression mp::log(Expression x) { return build<math::LogOp, LogOp>(x); }
Expression mp::log1p(Expression x) { return build<math::Log1pOp, Log1pOp>(x); }
Expression mp::rsqrt(Expression x) { return build<math::RsqrtOp, RsqrtOp>(x); }
Expression mp::sin(Expression x) { return build<math::SinOp, SinOp>(x); }
Expression mp::sqrt(Expression x) { return build<math::SqrtOp, SqrtOp>(x); }
Expression mp::tanh(Expression x) { return build<math::TanhOp, TanhOp>(x); }

Expression mp::sigmoid(Expression x) {
  if (x.isTensor())
    return {x.builder(), SigmoidOp::create(x.builder(), Value(x.wide()))};
  Expression one = x.number(1);
  return one / (one + exp(-x));
}

Expression mp::fma(Expression x, Expression y, Expression z) {
  auto &b = x.builder();
  return {b, math::FmaOp::create(b, Value(x), Value(y), Value(z))};
}

Expression mp::sign(Expression x) {
  Expression zero = x.number(0);
  Expression isNegative = x < zero;
  Expression isPositive = x > zero;
  return select(isPositive, 1, select(isNegative, -1, zero));
}

//===----------------------------------------------------------------------===//
// Functions of two values
//===----------------------------------------------------------------------===//

/// Operands are cast in order. Integers are signed.
template <typename FloatOp, typename IntegerOp, typename TensorOp>
static Expression build(Expression x, Expression y) {
  auto &b = x.builder();
  Value first = x.wide(), second = y.wide();
  if (x.isTensor())
    return {b, TensorOp::create(b, first, second)};
  if (isa<FloatType>(getElementTypeOrSelf(first)))
    return {b, FloatOp::create(b, first, second)};
  return {b, IntegerOp::create(b, first, second)};
}

Expression mp::operator+(Expression x, Expression y) {
  return build<arith::AddFOp, arith::AddIOp, AddOp>(x, y);
}
Expression mp::operator-(Expression x, Expression y) {
  return build<arith::SubFOp, arith::SubIOp, SubOp>(x, y);
}
Expression mp::operator*(Expression x, Expression y) {
  return build<arith::MulFOp, arith::MulIOp, MulOp>(x, y);
}
Expression mp::operator/(Expression x, Expression y) {
  return build<arith::DivFOp, arith::DivSIOp, DivOp>(x, y);
}
Expression mp::max(Expression x, Expression y) {
  return build<arith::MaximumFOp, arith::MaxSIOp, MaximumOp>(x, y);
}
Expression mp::min(Expression x, Expression y) {
  return build<arith::MinimumFOp, arith::MinSIOp, MinimumOp>(x, y);
}
Expression mp::pow(Expression x, Expression y) {
  return build<math::PowFOp, math::IPowIOp, PowOp>(x, y);
}
Expression mp::operator&(Expression x, Expression y) {
  return build<arith::AndIOp, arith::AndIOp, AndOp>(x, y);
}
Expression mp::operator|(Expression x, Expression y) {
  return build<arith::OrIOp, arith::OrIOp, OrOp>(x, y);
}

template <typename Op> static Expression buildBits(Expression x, Expression y) {
  auto &b = x.builder();
  return {b, Op::create(b, Value(x), Value(y))};
}
Expression mp::operator^(Expression x, Expression y) {
  return buildBits<arith::XOrIOp>(x, y);
}
Expression mp::operator<<(Expression x, Expression y) {
  return buildBits<arith::ShLIOp>(x, y);
}
Expression mp::operator>>(Expression x, Expression y) {
  return buildBits<arith::ShRSIOp>(x, y);
}
Expression mp::shiftRightLogical(Expression x, Expression y) {
  return buildBits<arith::ShRUIOp>(x, y);
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

static Expression compare(Comparison relation, arith::CmpFPredicate ofFloats,
                          arith::CmpIPredicate ofIntegers, Expression x,
                          Expression y) {
  auto &b = x.builder();
  Value first = x.wide(), second = y.wide();
  if (x.isTensor())
    return {b, CompareOp::create(b, relation, first, second)};
  if (isa<FloatType>(getElementTypeOrSelf(first)))
    return {b, arith::CmpFOp::create(b, ofFloats, first, second)};
  return {b, arith::CmpIOp::create(b, ofIntegers, first, second)};
}

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
Expression mp::operator==(Expression x, Expression y) {
  return compare(Comparison::eq, F::OEQ, I::eq, x, y);
}
Expression mp::operator!=(Expression x, Expression y) {
  return compare(Comparison::ne, F::UNE, I::ne, x, y);
}
Expression mp::operator<(Expression x, Expression y) {
  return compare(Comparison::lt, F::OLT, I::slt, x, y);
}
Expression mp::operator<=(Expression x, Expression y) {
  return compare(Comparison::le, F::OLE, I::sle, x, y);
}
Expression mp::operator>(Expression x, Expression y) {
  return compare(Comparison::gt, F::OGT, I::sgt, x, y);
}
Expression mp::operator>=(Expression x, Expression y) {
  return compare(Comparison::ge, F::OGE, I::sge, x, y);
}

Expression mp::isUnordered(Expression x, Expression y) {
  auto &b = x.builder();
  return {b, arith::CmpFOp::create(b, F::UNO, Value(x), Value(y))};
}

Expression mp::select(Expression flag, Expression x, Expression y) {
  auto &b = x.builder();
  Value chosen = x.wide(), other = y.wide();
  if (x.isTensor())
    return {b, SelectOp::create(b, flag, chosen, other)};
  return {b, arith::SelectOp::create(b, flag, chosen, other)};
}
