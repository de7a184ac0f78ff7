//===- MathWaves.cpp - sine and cosine of f32 as plain arithmetic ---------===//
//
// The operand is reduced to [-pi/4, pi/4] exactly whatever its size (Payne and
// Hanek, SIGNUM Newsletter 18, 1983): of its product with 2 / pi only the bits
// that decide the quadrant and the rest of the operand within it are computed,
// in integers.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/MathBuilder.h"

using namespace mlir;
using namespace mp::expansion;

namespace {

/// |x| = (4 k + quadrant) pi / 2 + r, |r| <= pi / 4.
struct WaveReduction {
  Value quadrant, r;
};

/// 32 zeros, and the first 224 bits of 2 / pi.
constexpr uint32_t twoOverPi[] = {0,          0xa2f9836e, 0x4e441529,
                                  0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                  0x3c439041, 0xfe5163ab};

/// 96 bits of the table from bit `offset` on, which is less than 160, as three
/// words.
SmallVector<Value> window(Math &m, Value offset) {
  Value word = m.shiftRight(offset, 5), shift = m.andi(offset, m.integer(31));
  SmallVector<Value> isFirst;
  for (int i = 0; i < 4; ++i)
    isFirst.push_back(m.equal(word, m.integer(i)));
  SmallVector<Value> words;
  for (int k = 0; k < 4; ++k) {
    Value bits = m.integer(static_cast<int32_t>(twoOverPi[k + 4]));
    for (int i = 3; i >= 0; --i)
      bits = m.select(isFirst[i],
                      m.integer(static_cast<int32_t>(twoOverPi[k + i])), bits);
    words.push_back(bits);
  }
  SmallVector<Value> shifted;
  Value back = m.subi(m.integer(31), shift);
  for (int k = 0; k < 3; ++k) {
    // In two steps: a shift by 32 has no value.
    Value next = m.shiftRightLogical(words[k + 1], m.integer(1));
    shifted.push_back(
        m.ori(m.shiftLeft(words[k], shift), m.shiftRightLogical(next, back)));
  }
  return shifted;
}

/// `fraction` in units of 2^-62, at most 2^61, times pi / 2. In parts of 24
/// bits, so that the sum rounds once.
Value timesHalfPi(Math &m, Value fraction) {
  constexpr float high = 0x1.921fb6p-62f, low = -0x1.777a5cp-87f;
  constexpr int64_t unit = int64_t(1) << 38;
  Value nearest = m.addi(fraction, m.longInteger(unit / 2));
  Value most = m.andi(nearest, m.longInteger(-unit));
  Value a = m.toFloat(most), b = m.toFloat(m.subi(fraction, most));
  Value rest = m.fma(a, m.constant(low), m.mul(b, m.constant(high)));
  return m.fma(a, m.constant(high), rest);
}

/// For |x| of at least 2^-7. With |x| = n 2^s, n of 24 bits, bits of 2 / pi
/// above 2^(1 - s) add multiples of four to the product: the window starts
/// there, and n times the window is the product in units of 2^-94. Its first 64
/// bits are kept.
WaveReduction reduceLarge(Math &m, Value x) {
  Value bits = m.bitsOf(m.abs(x));
  Value exponent = m.shiftRight(bits, 23);
  Value n = m.ori(m.andi(bits, m.integer(0x7fffff)), m.integer(0x800000));
  Value offset = m.subi(m.maxi(exponent, m.integer(120)), m.integer(120));
  SmallVector<Value> words = window(m, offset);

  Value low = m.shiftRightLogical(m.muli(m.toLong(n), m.toLong(words[2])),
                                  m.longInteger(32));
  Value middle = m.muli(m.toLong(n), m.toLong(words[1]));
  Value high = m.shiftLeft(m.toLong(m.muli(n, words[0])), m.longInteger(32));
  Value product = m.addi(high, m.addi(middle, low));

  // Two bits before the point: rounded, they leave a fraction with a sign.
  Value rounded = m.addi(product, m.longInteger(int64_t(1) << 61));
  Value quadrant = m.lowHalf(m.shiftRightLogical(rounded, m.longInteger(62)));
  Value fraction =
      m.subi(product, m.andi(rounded, m.longInteger(-(int64_t(1) << 62))));
  return {quadrant, timesHalfPi(m, fraction)};
}

WaveReduction reduce(Math &m, Value x) {
  WaveReduction large = reduceLarge(m, x);
  Value a = m.abs(x);
  Value small = m.compare(arith::CmpFPredicate::OLT, a, m.constant(0.75f));
  return {m.select(small, m.integer(0), large.quadrant),
          m.select(small, a, large.r)};
}

/// sin(quadrant pi / 2 + r); NaN where |x| is not finite.
Value waveAt(Math &m, Value quadrant, Value r, Value x) {
  Value t = m.mul(r, r);
  // (sin r - r) / r^3 on |r| <= pi / 4; error 2^-32.5 of sin r.
  Value p = m.polynomial(
      t, {-0x1.555556p-3f, 0x1.111174p-7f, -0x1.a0595ep-13f, 0x1.7c337cp-19f});
  Value sine = m.fma(m.mul(r, t), p, r);
  // (cos r - 1 + r^2 / 2) / r^4 on |r| <= pi / 4; error 2^-33 of cos r.
  Value q =
      m.polynomial(t, {0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e914p-16f});
  Value cosine =
      m.fma(m.mul(t, t), q, m.fma(t, m.constant(-0.5f), m.constant(1)));

  Value zero = m.integer(0);
  Value even = m.equal(m.andi(quadrant, m.integer(1)), zero);
  Value wave = m.select(even, sine, cosine);
  Value sign = m.shiftLeft(m.andi(quadrant, m.integer(2)), 30);
  Value finite = m.compare(arith::CmpFPredicate::OLT, m.abs(x),
                           m.constant(std::numeric_limits<float>::infinity()));
  return m.select(finite, m.floatOf(m.xori(m.bitsOf(wave), sign)),
                  m.constant(std::numeric_limits<float>::quiet_NaN()));
}

} // namespace

Value mp::expansion::expandSin(Math &m, Value x) {
  auto [quadrant, r] = reduce(m, x);
  Value sign = m.andi(m.bitsOf(x), m.integer(INT32_MIN));
  Value wave = waveAt(m, quadrant, r, x);
  return m.floatOf(m.xori(m.bitsOf(wave), sign));
}

Value mp::expansion::expandCos(Math &m, Value x) {
  auto [quadrant, r] = reduce(m, x);
  return waveAt(m, m.addi(quadrant, m.integer(1)), r, x);
}
