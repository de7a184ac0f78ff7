//===- SortKeys.cpp - integers in the order of elements -------------------===//
#include "codegen/cpu/sort/SortKeys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {
/// Arithmetic on integers of one width, scalars or vectors.
class Bits {
public:
  Bits(ImplicitLocOpBuilder &b, Type type)
      : b(b), type(type),
        width(getElementTypeOrSelf(type).getIntOrFloatBitWidth()) {}

  Value constant(const APInt &value) {
    auto element = IntegerAttr::get(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b,
                                       DenseElementsAttr::get(vector, element));
    return arith::ConstantOp::create(b, element);
  }
  Value ones() { return constant(APInt::getAllOnes(width)); }
  Value sign() { return constant(APInt::getSignMask(width)); }

  Value exclusiveOr(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value compare(arith::CmpIPredicate relation, Value x, Value y) {
    return arith::CmpIOp::create(b, relation, x, y);
  }
  Value select(Value flag, Value x, Value y) {
    return arith::SelectOp::create(b, flag, x, y);
  }

  ImplicitLocOpBuilder &b;
  Type type;
  unsigned width;
};
} // namespace

/// The order of floats is that of sign and magnitude.
static Value keysOfFloats(Bits bits, Value x, FloatType element) {
  using Relation = arith::CmpIPredicate;
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  Value infinity = bits.constant(APFloat::getInf(semantics).bitcastToAPInt());
  Value zero = bits.constant(APInt::getZero(bits.width));
  Value magnitude = arith::AndIOp::create(
      bits.b, x, bits.constant(APInt::getSignedMaxValue(bits.width)));
  Value isZero = bits.compare(Relation::eq, magnitude, zero);
  Value isNegative = bits.compare(Relation::slt, x, zero);
  Value isNaN = bits.compare(Relation::ugt, magnitude, infinity);
  Value below = bits.exclusiveOr(x, bits.ones());
  Value above = bits.exclusiveOr(magnitude, bits.sign());
  Value keys = bits.select(isNegative, below, above);
  keys = bits.select(isZero, bits.sign(), keys);
  return bits.select(isNaN, bits.ones(), keys);
}

Value mp::cpu::sortKeysOf(ImplicitLocOpBuilder &b, Value x, Type element,
                          bool descending) {
  Bits bits(b, x.getType());
  auto number = dyn_cast<FloatType>(element);
  Value keys =
      number ? keysOfFloats(bits, x, number) : bits.exclusiveOr(x, bits.sign());
  return descending ? bits.exclusiveOr(keys, bits.ones()) : keys;
}
