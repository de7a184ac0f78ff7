//===- scalars.cuh - arithmetic of LLVM that operators do not say ---------===//
//
// What the bodies of generated kernels call beside the prelude: plain C++,
// without an instruction of its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "prelude.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <typename T> struct UnsignedOf {
  using Type = T;
};
template <> struct UnsignedOf<signed char> {
  using Type = unsigned char;
};
template <> struct UnsignedOf<short> {
  using Type = unsigned short;
};
template <> struct UnsignedOf<int> {
  using Type = unsigned;
};
template <> struct UnsignedOf<long long> {
  using Type = unsigned long long;
};
/// At least 32 bits wide, so that nothing is promoted to a signed int.
template <typename T> unsigned long long toUnsigned(T value) {
  return static_cast<typename UnsignedOf<T>::Type>(value);
}
inline unsigned toUnsigned(int value) { return static_cast<unsigned>(value); }
inline unsigned toUnsigned(unsigned value) { return value; }

/// Modulo 2^n.
template <typename T> T wrapAdd(T a, T b) {
  return static_cast<T>(toUnsigned(a) + toUnsigned(b));
}
template <typename T> T wrapSubtract(T a, T b) {
  return static_cast<T>(toUnsigned(a) - toUnsigned(b));
}
template <typename T> T wrapMultiply(T a, T b) {
  return static_cast<T>(toUnsigned(a) * toUnsigned(b));
}
/// The upper half of the product of two unsigned numbers.
inline int highProduct(int a, int b) {
  unsigned long long product =
      static_cast<unsigned long long>(toUnsigned(a)) * toUnsigned(b);
  return static_cast<int>(product >> 32);
}
/// Quotients towards minus or plus infinity.
template <typename T> T floorDiv(T a, T b) {
  T quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
template <typename T> T ceilDiv(T a, T b) {
  T quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}
template <typename T> T absoluteInteger(T value) {
  return value < 0 ? wrapSubtract<T>(0, value) : value;
}

//===----------------------------------------------------------------------===//
// Floats: f32 and f64
//===----------------------------------------------------------------------===//

template <typename T> struct FloatTraits;
template <> struct FloatTraits<float> {
  using Bits = unsigned;
  static constexpr Bits sign = 0x80000000u;
  /// From here on there are integers only: 2^23.
  static constexpr float integers = 8388608.0f;
};
template <> struct FloatTraits<double> {
  using Bits = unsigned long long;
  static constexpr Bits sign = 0x8000000000000000ull;
  static constexpr double integers = 4503599627370496.0;
};

/// -inf.
template <typename S> S lowest();
template <> inline float lowest<float>() { return fromBits(0xff800000u); }
template <> inline double lowest<double>() {
  return fromBits(0xfff0000000000000ull);
}

/// Also of a NaN only the sign changes in these three.
template <typename T> T absolute(T value) {
  return fromBits(bitsOf(value) & ~FloatTraits<T>::sign);
}
template <typename T> T negate(T value) {
  return fromBits(bitsOf(value) ^ FloatTraits<T>::sign);
}
template <typename T> T copySign(T value, T sign) {
  constexpr auto mask = FloatTraits<T>::sign;
  return fromBits((bitsOf(value) & ~mask) | (bitsOf(sign) & mask));
}
template <typename T> T rsqrt(T value) { return T(1) / sqrt(value); }

/// A NaN loses against a number.
template <typename T> T maximumNumber(T a, T b) {
  return a != a ? b : b != b ? a : maximum(a, b);
}
template <typename T> T minimumNumber(T a, T b) {
  return a != a ? b : b != b ? a : minimum(a, b);
}

/// Ties to even: the addition leaves no room for a fraction.
template <typename T> T roundToEven(T value) {
  constexpr T integers = FloatTraits<T>::integers;
  T magnitude = absolute(value);
  if (!(magnitude < integers))
    return value;
  return copySign((magnitude + integers) - integers, value);
}
template <typename T> T floor(T value) {
  T near = roundToEven(value);
  return near > value ? near - T(1) : near;
}
template <typename T> T ceil(T value) {
  T near = roundToEven(value);
  return copySign(near < value ? near + T(1) : near, value);
}
template <typename T> T trunc(T value) {
  return copySign(floor(absolute(value)), value);
}

/// The nearest f32, or where that is inexact, the neighbour whose last bit is
/// set: rounded again to a half, it gives what one rounding of `value` gives.
inline float toOdd(double value) {
  float near = static_cast<float>(value);
  double back = static_cast<double>(near);
  unsigned bits = bitsOf(near);
  if (back == value || value != value || (bits & 1u))
    return near;
  bool isAway = absolute(back) > absolute(value);
  return fromBits(isAway ? bits - 1u : bits + 1u);
}

} // namespace mp
