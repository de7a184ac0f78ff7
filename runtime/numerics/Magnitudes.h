//===- Magnitudes.h - how large the elements of tensors are -----*- C++ -*-===//
//
// One reading of a tensor counts enough to say, exactly, what f16 makes of its
// elements at every loss scale that is a power of two.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_NUMERICS_MAGNITUDES_H
#define MP_RUNTIME_NUMERICS_MAGNITUDES_H

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace mp {

/// What rounding to f16, to nearest and ties to even, makes of a number.
enum class Fate {
  Flushed,      ///< zero
  Subnormal,    ///< less than 2^-14
  Normal,       ///< the rest
  NearOverflow, ///< more than 65504 / 2^headroom
  Overflow,     ///< infinite
};
inline constexpr int kFates = 5;

/// The fate of a finite number that is not zero, given without its sign.
Fate fateInHalf(double magnitude, int headroom);

/// How many elements meet which fate.
struct HalfCounts {
  std::array<uint64_t, kFates> byFate = {};

  uint64_t &operator[](Fate fate) { return byFate[static_cast<int>(fate)]; }
  uint64_t operator[](Fate fate) const {
    return byFate[static_cast<int>(fate)];
  }
  void add(const HalfCounts &other);
  /// Elements that are finite and not zero.
  uint64_t all() const;
  /// The share of those with one fate; 0 where there are none.
  double share(Fate fate) const;
};

/// How large the elements of tensors are, their signs left out.
class Magnitudes {
public:
  /// Exponents of the least subnormal f32, and of the largest f32.
  static constexpr int least = -149, most = 127;

  uint64_t zeros = 0, nonFinite = 0;
  double largest = 0; ///< of the finite ones

  void add(double element);
  void add(const Magnitudes &other);
  /// Elements of [2^e, 2^(e+1)).
  uint64_t count(int e) const;
  /// The exponents that there are, and their elements, the least first.
  std::vector<std::pair<int, uint64_t>> exponents() const;
  /// All that are finite and not zero.
  uint64_t nonZeros() const;
  uint64_t elements() const { return zeros + nonFinite + nonZeros(); }

  /// What f16 makes of them times 2^shift.
  HalfCounts inHalf(int shift, int headroom) const;

private:
  /// Numbers of one exponent that meet the same fate whatever the power of two
  /// that they are multiplied by: the least of them, and those from where
  /// rounding to ten and to eleven bits reaches the next exponent.
  static constexpr std::array<double, 4> parts = {1, 1 + 0x1p-52, 2 - 0x1p-10,
                                                  2 - 0x1p-11};
  /// By e - least, and by part.
  std::array<std::array<uint64_t, parts.size()>, most - least + 1> counts = {};
};

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_MAGNITUDES_H
