//===- Cast.cpp - changes of element type ---------------------------------===//
#include "dialect/ops/Cast.h"
#include "dialect/Expression.h"
#include "dialect/Lossless.h"

using namespace mlir;
using namespace mp;

LogicalResult CastOp::verify() {
  auto from = getInput().getType(), to = getType();
  if (from.getShape() != to.getShape())
    return emitOpError() << "changes the shape: " << from << " vs " << to;
  return success();
}

bool mp::isLossless(Type from, Type to) {
  auto f = dyn_cast<FloatType>(from), t = dyn_cast<FloatType>(to);
  if (f && t)
    return APFloat::isRepresentableBy(f.getFloatSemantics(),
                                      t.getFloatSemantics());
  return false;
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto inner = getInput().getDefiningOp<CastOp>();
  if (inner && inner.getInput().getType() == getType() &&
      isLossless(elementType(inner.getInput()), elementType(getInput())))
    return inner.getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Rounds f64 to f32 so that a second rounding to 16 bits gives the result of a
/// single one: inexact results are made odd ("round to odd", Boldo and
/// Melquiond, 2008).
static Expression roundToOdd(Expression x) {
  auto &b = x.builder();
  Expression near = x.to(b.getF32Type());
  Expression back = near.toTypeOf(x);
  Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE,
                                          Value(back), Value(x));
  Expression nearMagnitude = abs(back), magnitude = abs(x);
  Expression isAway = nearMagnitude > magnitude;
  Expression bits = bitcast(near, b.getI32Type());
  Expression truncated = select(isAway, bits - 1, bits);
  Expression odd = truncated | 1;
  return bitcast(select({b, isInexact}, odd, bits), b.getF32Type());
}

static Value floatToFloat(ImplicitLocOpBuilder &b, Value x, FloatType to) {
  auto from = cast<FloatType>(x.getType());
  if (from == to)
    return x;
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, to, x);
  if (from.isF64() && to.getWidth() < 32)
    x = roundToOdd({b, x});
  return arith::TruncFOp::create(b, to, x);
}

static Value intToFloat(ImplicitLocOpBuilder &b, Value x, bool isUnsigned,
                        FloatType to) {
  // If `to` has 16 bits, go through f64, which holds every 32-bit integer.
  auto integer = cast<IntegerType>(x.getType());
  Type through = to;
  if (to.getWidth() < 32)
    through =
        integer.getWidth() > 8 ? Type(b.getF64Type()) : Type(b.getF32Type());
  Value exact = isUnsigned ? Value(arith::UIToFPOp::create(b, through, x))
                           : Value(arith::SIToFPOp::create(b, through, x));
  return floatToFloat(b, exact, to);
}

static Value intToInt(ImplicitLocOpBuilder &b, Value x, bool isUnsigned,
                      IntegerType to) {
  unsigned from = cast<IntegerType>(x.getType()).getWidth();
  if (from == to.getWidth())
    return x;
  if (to.getWidth() == 1) {
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(x.getType(), 0));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero);
  }
  if (from > to.getWidth())
    return arith::TruncIOp::create(b, to, x);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, to, x);
  return arith::ExtSIOp::create(b, to, x);
}

static Value floatToInt(ImplicitLocOpBuilder &b, Value x, bool isUnsigned,
                        IntegerType to) {
  if (to.getWidth() == 1) {
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(x.getType(), 0));
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, zero);
  }
  if (isUnsigned)
    return arith::FPToUIOp::create(b, to, x);
  return arith::FPToSIOp::create(b, to, x);
}

SmallVector<Value> CastOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Type from = elementType(getInput()), to = elementType(getResult());
  // A flag is unsigned: true is 1.
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return {floatToFloat(b, x[0], cast<FloatType>(to))};
  if (isa<FloatType>(to))
    return {intToFloat(b, x[0], fromUnsigned, cast<FloatType>(to))};
  auto integer = cast<IntegerType>(computeType(to));
  if (isa<FloatType>(from))
    return {floatToInt(b, x[0], to.isUnsignedInteger(), integer)};
  return {intToInt(b, x[0], fromUnsigned, integer)};
}

SmallVector<Value> CastOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  // The walker casts back to the operand's type; integers get no gradient.
  if (!isa<FloatType>(elementType(getInput())))
    return {Value()};
  return {g[0]};
}

std::vector<OpSample> CastOp::sampleInputs() {
  return {{{{"tensor<3x5xf64>"}},
           "mp.cast %0 : tensor<3x5xf64> to tensor<3x5xf64>"}};
}
