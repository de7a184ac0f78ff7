//===- MathWaves.cpp - sine and cosine of f32 as plain arithmetic ---------===//
//
// The operand is reduced to [-pi/4, pi/4] exactly whatever its size (Payne and
// Hanek, SIGNUM Newsletter 18, 1983): of its product with 2 / pi only the bits
// that decide the quadrant and the rest of the operand within it are computed,
// in integers.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/MathParts.h"

using namespace mlir;
using namespace mp;
using namespace mp::expansion;

namespace {

/// |x| = (4 k + quadrant) pi / 2 + r, |r| <= pi / 4.
struct WaveReduction {
  Expression quadrant, r;
};

/// 32 zeros, and the first 224 bits of 2 / pi.
constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529,
                                   0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                   0x3c439041, 0xfe5163ab};

/// 96 bits of the table from bit `offset` on, which is less than 160, as three
/// words.
SmallVector<Expression> window(Expression offset) {
  Expression word = offset >> 5, shift = offset & 31;
  SmallVector<Expression> isFirst;
  for (int i = 0; i < 4; ++i)
    isFirst.push_back(word == i);
  SmallVector<Expression> words;
  for (int k = 0; k < 4; ++k) {
    Expression bits = offset.number(kTwoOverPi[k + 4]);
    for (int i = 3; i >= 0; --i)
      bits = select(isFirst[i], kTwoOverPi[k + i], bits);
    words.push_back(bits);
  }
  SmallVector<Expression> shifted;
  Expression back = 31 - shift;
  for (int k = 0; k < 3; ++k) {
    // In two steps: a shift by 32 has no value.
    Expression next = shiftRightLogical(words[k + 1], 1);
    Expression upper = words[k] << shift;
    shifted.push_back(upper | shiftRightLogical(next, back));
  }
  return shifted;
}

/// `fraction` in units of 2^-62, at most 2^61, times pi / 2. In parts of 24
/// bits, so that the sum rounds once.
Expression timesHalfPi(Expression fraction) {
  constexpr float high = 0x1.921fb6p-62f, low = -0x1.777a5cp-87f;
  constexpr int64_t unit = int64_t(1) << 38;
  Expression nearest = fraction + unit / 2;
  Expression most = nearest & -unit;
  Expression a = toFloat(most), b = toFloat(fraction - most);
  Expression lowFactor = a.number(low);
  Expression rest = fma(a, lowFactor, b * high);
  return fma(a, high, rest);
}

/// For |x| of at least 2^-7. With |x| = n 2^s, n of 24 bits, bits of 2 / pi
/// above 2^(1 - s) add multiples of four to the product: the window starts
/// there, and n times the window is the product in units of 2^-94. Its first 64
/// bits are kept.
WaveReduction reduceLarge(Expression x) {
  Expression bits = bitsOf(withoutSign(x));
  Expression exponent = bits >> 23;
  Expression n = (bits & 0x7fffff) | 0x800000;
  Expression offset = max(exponent, 120) - 120;
  SmallVector<Expression> words = window(offset);

  auto timesN = [&](Expression word) {
    Expression factor = zeroExtend(n, 64);
    return factor * zeroExtend(word, 64);
  };
  Expression low = shiftRightLogical(timesN(words[2]), 32);
  Expression middle = timesN(words[1]);
  Expression high = zeroExtend(n * words[0], 64) << 32;
  Expression product = high + (middle + low);

  // Two bits before the point: rounded, they leave a fraction with a sign.
  Expression rounded = product + 0x1p61;
  Expression quadrant = truncate(shiftRightLogical(rounded, 62), 32);
  Expression fraction = product - (rounded & -0x1p62);
  return {quadrant, timesHalfPi(fraction)};
}

WaveReduction reduce(Expression x) {
  WaveReduction large = reduceLarge(x);
  Expression magnitude = withoutSign(x);
  Expression isSmall = magnitude < 0.75;
  return {select(isSmall, 0, large.quadrant),
          select(isSmall, magnitude, large.r)};
}

/// sin(quadrant pi / 2 + r); NaN where |x| is not finite.
Expression waveAt(Expression quadrant, Expression r, Expression x) {
  Expression t = r * r;
  // (sin r - r) / r^3 on |r| <= pi / 4; error 2^-32.5 of sin r.
  Expression p = polynomial(
      t, {-0x1.555556p-3f, 0x1.111174p-7f, -0x1.a0595ep-13f, 0x1.7c337cp-19f});
  Expression sine = fma(r * t, p, r);
  // (cos r - 1 + r^2 / 2) / r^4 on |r| <= pi / 4; error 2^-33 of cos r.
  Expression q =
      polynomial(t, {0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e914p-16f});
  Expression square = t * t;
  Expression cosine = fma(square, q, fma(t, -0.5, 1));

  Expression zero = quadrant.number(0);
  Expression isEven = (quadrant & 1) == zero;
  Expression wave = select(isEven, sine, cosine);
  Expression sign = (quadrant & 2) << 30;
  Expression isFinite = withoutSign(x) < std::numeric_limits<float>::infinity();
  return select(isFinite, floatOf(bitsOf(wave) ^ sign),
                std::numeric_limits<float>::quiet_NaN());
}

} // namespace

Expression mp::expansion::expandSin(Expression x) {
  auto [quadrant, r] = reduce(x);
  Expression sign = bitsOf(x) & INT32_MIN;
  Expression wave = waveAt(quadrant, r, x);
  return floatOf(bitsOf(wave) ^ sign);
}

Expression mp::expansion::expandCos(Expression x) {
  auto [quadrant, r] = reduce(x);
  return waveAt(quadrant + 1, r, x);
}
