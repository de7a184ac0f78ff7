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
#include "passes/kernels/MathParts.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mp;
using namespace mp::expansion;

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

/// f32 from the bits of `x`.
Expression extend(Expression x) {
  bool e4m3 = isE4M3(x.getType());
  const Format &format = e4m3 ? kE4M3 : kE5M2;
  Expression byte = bitcast(x, x.builder().getI8Type());
  Expression bits = zeroExtend(byte, 32);
  Expression magnitude = bits & 0x7f;
  Expression moved = magnitude << format.shift;
  Expression finite = bitsOf(floatOf(moved) * format.scale);
  Expression special = bits.number(0x7fc00000);
  if (!e4m3) { // infinity, or a NaN that is made quiet
    Expression infinite = moved | 0x7f800000;
    Expression isNan = magnitude > 0x7c, quiet = bits.number(0x00400000);
    special = infinite | select(isNan, quiet, 0);
  }
  Expression isSpecial = magnitude > (e4m3 ? 0x7e : 0x7b);
  Expression sign = (bits & 0x80) << 24;
  return floatOf(select(isSpecial, special, finite) | sign);
}

/// Ties go to even; what is too large becomes infinity, or NaN in f8E4M3FN.
Expression round(Expression x, Type type) {
  bool e4m3 = isE4M3(type);
  const Format &format = e4m3 ? kE4M3 : kE5M2;
  auto bitsOfNumber = [](float number) {
    return llvm::bit_cast<int32_t>(number);
  };
  Expression bits = bitsOf(x);
  Expression magnitude = bits & INT32_MAX;
  Expression kept = magnitude >> format.shift;
  Expression odd = kept & 1;
  Expression half = bits.number((1 << (format.shift - 1)) - 1);
  // Never beyond the largest signed number: what lies above is replaced.
  Expression bounded = min(magnitude, 0x7f800000);
  Expression rounded = (bounded + half + odd) >> format.shift;
  Expression normal = rounded - (format.bias << (23 - format.shift));
  // The sum's last bit is worth what the last bit of a subnormal one is.
  Expression one = x.number(format.subnormalOne);
  Expression sum = floatOf(magnitude) + one;
  Expression sumBits = bitsOf(sum), oneBits = bitsOf(one);
  Expression subnormal = sumBits - oneBits;
  Expression isNormal = magnitude > bitsOfNumber(format.smallest) - 1;
  Expression result = select(isNormal, normal, subnormal);
  if (e4m3) {
    // Half way between 448, the largest, and 480, which would be NaN's bits.
    result = select(magnitude > bitsOfNumber(464.0f), 0x7f, result);
  } else {
    result = min(result, 0x7c);
    Expression payload = kept & 3;
    Expression isNan = magnitude > 0x7f800000;
    result = select(isNan, payload | 0x7e, result);
  }
  Expression sign = (bits >> 24) & 0x80;
  Expression byte = truncate(result | sign, 8);
  return bitcast(byte, getElementTypeOrSelf(type));
}

} // namespace

Value mp::expandFloat8(Operation &op) {
  ImplicitLocOpBuilder b(op.getLoc(), &op);
  auto isF32 = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  if (auto wide = dyn_cast<arith::ExtFOp>(op);
      wide && isFloat8(wide.getIn().getType()) && isF32(wide.getType()))
    return extend({b, wide.getIn()});
  if (auto narrow = dyn_cast<arith::TruncFOp>(op);
      narrow && isFloat8(narrow.getType()) && isF32(narrow.getIn().getType()))
    return round({b, narrow.getIn()}, narrow.getType());
  return {};
}
