//===- Float8.cpp - 8-bit floats as plain arithmetic ----------------------===//
//
// f8E4M3FN has 4 bits of exponent (bias 7), no infinity, and one NaN a sign;
// f8E5M2 is an f16 without its last 8 bits (Micikevicius et al., FP8 Formats
// for Deep Learning, arXiv 2209.05433). Bits of both, moved to where an f32 has
// them, are that f32 but for the bias: a product with a power of two mends it,
// subnormal numbers included.
//
//===----------------------------------------------------------------------===//
#include "passes/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {

/// What the two formats differ in.
struct Format {
  int32_t shift;      ///< from their last bit of mantissa to f32's
  int32_t bias;       ///< what f32's exponent has more
  float scale;        ///< 2^bias
  float smallest;     ///< the smallest normal number
  float subnormalOne; ///< plus this, the last bit is that of a subnormal one
};
constexpr Format kE4M3{20, 120, 0x1p120f, 0x1p-6f, 0x1p14f};
constexpr Format kE5M2{21, 112, 0x1p112f, 0x1p-14f, 0x1p7f};

bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}
bool isE4M3(Type type) {
  return isa<Float8E4M3FNType>(getElementTypeOrSelf(type));
}

/// Arithmetic on the bits of f32, in the shape of a value.
class Bits {
public:
  Bits(ImplicitLocOpBuilder &b, Type like) : b(b), like(like) {}

  Type shaped(Type element) {
    auto type = dyn_cast<ShapedType>(like);
    return type ? Type(type.clone(element)) : element;
  }
  Type i32() { return shaped(b.getI32Type()); }
  Type f32() { return shaped(b.getF32Type()); }
  Type i8() { return shaped(b.getI8Type()); }

  Value integer(int32_t value) {
    return constant(i32(), b.getI32IntegerAttr(value));
  }
  Value number(float value) {
    return constant(f32(), b.getF32FloatAttr(value));
  }
  int32_t bitsOf(float value) { return llvm::bit_cast<int32_t>(value); }

  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, x, y);
  }
  Value add(Value x, Value y) { return make<arith::AddIOp>(x, y); }
  Value sub(Value x, int32_t y) { return make<arith::SubIOp>(x, integer(y)); }
  Value andi(Value x, int32_t y) { return make<arith::AndIOp>(x, integer(y)); }
  Value ori(Value x, Value y) { return make<arith::OrIOp>(x, y); }
  Value left(Value x, int32_t n) { return make<arith::ShLIOp>(x, integer(n)); }
  Value right(Value x, int32_t n) {
    return make<arith::ShRUIOp>(x, integer(n));
  }
  Value above(Value x, int32_t y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, x, integer(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value cast(Type type, Value x) {
    return arith::BitcastOp::create(b, type, x);
  }

private:
  Value constant(Type type, TypedAttr value) {
    if (auto shape = dyn_cast<ShapedType>(type))
      return arith::ConstantOp::create(
          b, cast<TypedAttr>(TypedAttr(DenseElementsAttr::get(
                 shape, ArrayRef<Attribute>(Attribute(value))))));
    return arith::ConstantOp::create(b, value);
  }

  ImplicitLocOpBuilder &b;
  Type like;
};

/// f32 from the bits of `x`.
Value extend(ImplicitLocOpBuilder &b, Value x) {
  bool e4m3 = isE4M3(x.getType());
  const Format &format = e4m3 ? kE4M3 : kE5M2;
  Bits m(b, x.getType());
  Value bits = arith::ExtUIOp::create(b, m.i32(), m.cast(m.i8(), x));
  Value magnitude = m.andi(bits, 0x7f);
  Value moved = m.left(magnitude, format.shift);
  Value finite =
      m.cast(m.i32(), arith::MulFOp::create(b, m.cast(m.f32(), moved),
                                            m.number(format.scale)));
  Value special = m.integer(0x7fc00000);
  if (!e4m3) // infinity, or a NaN that is made quiet
    special = m.ori(m.ori(moved, m.integer(0x7f800000)),
                    m.select(m.above(magnitude, 0x7c), m.integer(0x00400000),
                             m.integer(0)));
  Value isSpecial = m.above(magnitude, e4m3 ? 0x7e : 0x7b);
  Value sign = m.left(m.andi(bits, 0x80), 24);
  return m.cast(m.f32(), m.ori(m.select(isSpecial, special, finite), sign));
}

/// Ties go to even; what is too large becomes infinity, or NaN in f8E4M3FN.
Value round(ImplicitLocOpBuilder &b, Value x, Type type) {
  bool e4m3 = isE4M3(type);
  const Format &format = e4m3 ? kE4M3 : kE5M2;
  Bits m(b, type);
  Value bits = m.cast(m.i32(), x);
  Value magnitude = m.andi(bits, INT32_MAX);
  Value odd = m.andi(m.right(magnitude, format.shift), 1);
  Value half = m.integer((1 << (format.shift - 1)) - 1);
  Value rounded = m.right(m.add(m.add(magnitude, half), odd), format.shift);
  Value normal = m.sub(rounded, format.bias << (23 - format.shift));
  // The sum's last bit is worth what the last bit of a subnormal one is.
  Value sum = arith::AddFOp::create(b, m.cast(m.f32(), magnitude),
                                    m.number(format.subnormalOne));
  Value subnormal = m.sub(m.cast(m.i32(), sum), m.bitsOf(format.subnormalOne));
  Value isNormal = m.above(magnitude, m.bitsOf(format.smallest) - 1);
  Value result = m.select(isNormal, normal, subnormal);
  if (e4m3) {
    // Half way between 448, the largest, and 480, which would be NaN's bits.
    result =
        m.select(m.above(magnitude, m.bitsOf(464.0f)), m.integer(0x7f), result);
  } else {
    Value infinity = m.integer(0x7c);
    result = m.select(m.above(result, 0x7c), infinity, result);
    Value payload = m.andi(m.right(magnitude, format.shift), 3);
    result = m.select(m.above(magnitude, 0x7f800000),
                      m.ori(payload, m.integer(0x7e)), result);
  }
  Value sign = m.andi(m.right(bits, 24), 0x80);
  Value byte = arith::TruncIOp::create(b, m.i8(), m.ori(result, sign));
  return m.cast(type, byte);
}

} // namespace

Value mp::expandFloat8(Operation &op) {
  ImplicitLocOpBuilder b(op.getLoc(), &op);
  auto isF32 = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  if (auto wide = dyn_cast<arith::ExtFOp>(op);
      wide && isFloat8(wide.getIn().getType()) && isF32(wide.getType()))
    return extend(b, wide.getIn());
  if (auto narrow = dyn_cast<arith::TruncFOp>(op);
      narrow && isFloat8(narrow.getType()) && isF32(narrow.getIn().getType()))
    return round(b, narrow.getIn(), narrow.getType());
  return {};
}
