//===- MathBuilder.h - f32 arithmetic for expansions ------------*- C++ -*-===//
//
// What the expansions of functions (passes/kernels/MathExpansion.h) are written
// with, and what their files give one another.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_KERNELS_MATHBUILDER_H
#define MP_PASSES_KERNELS_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mp::expansion {
using namespace mlir;

/// Builds f32 arithmetic on scalars or on vectors alike.
class Math {
public:
  Math(ImplicitLocOpBuilder &b, Type type)
      : b(b), floatType(type), intType(b.getI32Type()),
        longType(b.getI64Type()) {
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      intType = shaped.clone(b.getI32Type());
      longType = shaped.clone(b.getI64Type());
    }
  }

  Value constant(float value) {
    return splat(floatType, b.getF32FloatAttr(value));
  }
  Value integer(int32_t value) {
    return splat(intType, b.getI32IntegerAttr(value));
  }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value abs(Value x) { return floatOf(andi(bitsOf(x), integer(0x7fffffff))); }
  /// `magnitude` (not negative) with the sign of `x`.
  Value withSign(Value magnitude, Value x) {
    Value sign = andi(bitsOf(x), integer(INT32_MIN));
    return floatOf(ori(bitsOf(magnitude), sign));
  }

  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// A bound for `x`; NaN stays NaN.
  Value atLeast(Value x, float bound) {
    Value limit = constant(bound);
    return select(compare(arith::CmpFPredicate::OLT, x, limit), limit, x);
  }
  Value atMost(Value x, float bound) {
    Value limit = constant(bound);
    return select(compare(arith::CmpFPredicate::OGT, x, limit), limit, x);
  }

  Value bitsOf(Value x) { return arith::BitcastOp::create(b, intType, x); }
  Value floatOf(Value x) { return arith::BitcastOp::create(b, floatType, x); }
  Value addi(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value subi(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value muli(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value andi(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value ori(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value xori(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value equal(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  }
  Value above(Value x, int32_t bound) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, x,
                                 integer(bound));
  }
  Value mini(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value maxi(Value x, Value y) { return arith::MaxSIOp::create(b, x, y); }
  Value shiftLeft(Value x, Value n) { return arith::ShLIOp::create(b, x, n); }
  Value shiftRightLogical(Value x, Value n) {
    return arith::ShRUIOp::create(b, x, n);
  }
  Value shiftLeft(Value x, int32_t n) { return shiftLeft(x, integer(n)); }
  Value shiftRight(Value x, int32_t n) {
    return arith::ShRSIOp::create(b, x, integer(n));
  }
  Value toFloat(Value x) { return arith::SIToFPOp::create(b, floatType, x); }

  // Integers of 64 bits.
  Value longInteger(int64_t value) {
    return splat(longType, b.getI64IntegerAttr(value));
  }
  Value toLong(Value x) { return arith::ExtUIOp::create(b, longType, x); }
  Value lowHalf(Value x) { return arith::TruncIOp::create(b, intType, x); }

  /// c[0] + c[1] x + c[2] x^2 + ...
  Value polynomial(Value x, ArrayRef<float> c) {
    Value sum = constant(c.back());
    for (float coefficient : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

  /// x * y less its rounded value `product`, exactly.
  Value restOfProduct(Value x, Value y, Value product) {
    return fma(x, y, neg(product));
  }

  /// |x| rounded to an integer; itself from 2^23 on and at NaN.
  Value roundedMagnitude(Value x) {
    Value a = abs(x), shift = constant(0x1p23f);
    Value isSmall = compare(arith::CmpFPredicate::OLT, a, shift);
    return select(isSmall, sub(add(a, shift), shift), a);
  }
  Value isWhole(Value x) {
    return compare(arith::CmpFPredicate::OEQ, roundedMagnitude(x), abs(x));
  }

  /// The integer nearest to `x` plus what `rounded` must be reduced by: adding
  /// 1.5 * 2^23 leaves the integer in the low bits of the sum. Needs |x| <
  /// 2^22; NaN gives rubbish in `integer` but no undefined value, unlike a
  /// conversion.
  struct Rounded {
    Value integer, real;
  };
  Rounded round(Value biased) {
    constexpr float magic = 12582912.0f;
    return {subi(bitsOf(biased), integer(llvm::bit_cast<int32_t>(magic))),
            sub(biased, constant(magic))};
  }
  /// round(x * factor).
  Rounded roundProduct(Value x, float factor) {
    return round(fma(x, constant(factor), constant(12582912.0f)));
  }

  /// 2^n for n in [-126, 127].
  Value power(Value n) { return floatOf(shiftLeft(addi(n, integer(127)), 23)); }
  /// x 2^n for n in [-250, 254]: in two steps, of which the first is exact
  /// where the second rounds to a subnormal.
  Value scale(Value x, Value n) {
    Value half = shiftRight(n, 1);
    return mul(mul(x, power(half)), power(subi(n, half)));
  }

private:
  Value splat(Type type, TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(b, value);
  }

  ImplicitLocOpBuilder &b;
  Type floatType, intType, longType;
};

/// Splits positive normal bits into e and the bits of 2^-e x in [sqrt 1/2, sqrt
/// 2).
struct LogReduction {
  Value e, fraction;
};
LogReduction reduceLog(Math &m, Value bits);

/// 2^(high + low) for `high` in [-151, 129]; `low`, which may be null, is not
/// greater than the rounding of `high`.
Value exp2Bounded(Math &m, Value high, Value low);

Value expandPow(Math &m, Value x, Value y);
Value expandSin(Math &m, Value x);
Value expandCos(Math &m, Value x);

} // namespace mp::expansion

#endif // MP_PASSES_KERNELS_MATHBUILDER_H
