//===- Float8.cpp - 8-bit floats as plain arithmetic ----------------------===//
//
// f8E4M3FN has 4 bits of exponent (bias 7), no infinity, and one NaN a sign;
// f8E5M2 is an f16 without its last 8 bits (Micikevicius et al., FP8 Formats
// for Deep Learning, arXiv 2209.05433). Bits of both, moved to where an f32 has
// them, are that f32 but for the bias: a product with a power of two mends it,
// subnormal numbers included.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/Float8.h"
#include "passes/kernels/MathBuilder.h"

using namespace mlir;
using mp::expansion::Math;

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

Type shaped(Type like, Type element) {
  auto type = dyn_cast<ShapedType>(like);
  return type ? Type(type.clone(element)) : element;
}

/// f32 from the bits of `x`.
Value extend(ImplicitLocOpBuilder &b, Value x) {
  bool e4m3 = isE4M3(x.getType());
  const Format &format = e4m3 ? kE4M3 : kE5M2;
  Math m(b, shaped(x.getType(), b.getF32Type()));
  Type i8 = shaped(x.getType(), b.getI8Type()),
       i32 = shaped(x.getType(), b.getI32Type());
  Value byte = arith::BitcastOp::create(b, i8, x);
  Value bits = arith::ExtUIOp::create(b, i32, byte);
  Value magnitude = m.andi(bits, m.integer(0x7f));
  Value moved = m.shiftLeft(magnitude, format.shift);
  Value finite = m.bitsOf(m.mul(m.floatOf(moved), m.constant(format.scale)));
  Value special = m.integer(0x7fc00000);
  if (!e4m3) // infinity, or a NaN that is made quiet
    special = m.ori(m.ori(moved, m.integer(0x7f800000)),
                    m.select(m.above(magnitude, 0x7c), m.integer(0x00400000),
                             m.integer(0)));
  Value isSpecial = m.above(magnitude, e4m3 ? 0x7e : 0x7b);
  Value sign = m.shiftLeft(m.andi(bits, m.integer(0x80)), 24);
  return m.floatOf(m.ori(m.select(isSpecial, special, finite), sign));
}

/// Ties go to even; what is too large becomes infinity, or NaN in f8E4M3FN.
Value round(ImplicitLocOpBuilder &b, Value x, Type type) {
  bool e4m3 = isE4M3(type);
  const Format &format = e4m3 ? kE4M3 : kE5M2;
  Math m(b, x.getType());
  auto bitsOf = [](float value) { return llvm::bit_cast<int32_t>(value); };
  Value bits = m.bitsOf(x);
  Value magnitude = m.andi(bits, m.integer(INT32_MAX));
  Value kept = m.shiftRight(magnitude, format.shift);
  Value odd = m.andi(kept, m.integer(1));
  Value half = m.integer((1 << (format.shift - 1)) - 1);
  // Never beyond the largest signed number: what lies above is replaced.
  Value bounded = m.mini(magnitude, m.integer(0x7f800000));
  Value rounded =
      m.shiftRight(m.addi(m.addi(bounded, half), odd), format.shift);
  Value normal = m.subi(rounded, m.integer(format.bias << (23 - format.shift)));
  // The sum's last bit is worth what the last bit of a subnormal one is.
  Value one = m.constant(format.subnormalOne);
  Value sum = m.add(m.floatOf(magnitude), one);
  Value subnormal = m.subi(m.bitsOf(sum), m.bitsOf(one));
  Value isNormal = m.above(magnitude, bitsOf(format.smallest) - 1);
  Value result = m.select(isNormal, normal, subnormal);
  if (e4m3) {
    // Half way between 448, the largest, and 480, which would be NaN's bits.
    result =
        m.select(m.above(magnitude, bitsOf(464.0f)), m.integer(0x7f), result);
  } else {
    result = m.mini(result, m.integer(0x7c));
    Value payload = m.andi(kept, m.integer(3));
    result = m.select(m.above(magnitude, 0x7f800000),
                      m.ori(payload, m.integer(0x7e)), result);
  }
  Value sign = m.andi(m.shiftRight(bits, 24), m.integer(0x80));
  Value byte = arith::TruncIOp::create(b, shaped(type, b.getI8Type()),
                                       m.ori(result, sign));
  return arith::BitcastOp::create(b, type, byte);
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
