//===- Magnitudes.h - exponent histograms of tensors ------------*- C++ -*-===//
//
// One pass over a tensor counts enough to say exactly how f16 rounds its
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

/// What a number becomes when it is rounded to f16, to nearest with ties to
/// even.
enum class Fate {
  Flushed,      ///< zero
  Subnormal,    ///< less than 2^-14
  Normal,       ///< the rest
  NearOverflow, ///< more than 65504 / 2^headroom
  Overflow,     ///< infinite
};
inline constexpr int kFates = 5;

/// Returns the fate of the absolute value of a finite number that is not zero.
Fate fateInHalf(double magnitude, int headroom);

/// The number of elements by fate.
struct HalfCounts {
  std::array<uint64_t, kFates> byFate = {};

  uint64_t &operator[](Fate fate) { return byFate[static_cast<int>(fate)]; }
  uint64_t operator[](Fate fate) const {
    return byFate[static_cast<int>(fate)];
  }
  void add(const HalfCounts &other);
  /// Returns the number of elements that are finite and not zero.
  uint64_t all() const;
  /// Returns the share of these elements with one fate; 0 if there are none.
  double share(Fate fate) const;
};

/// A histogram of the absolute values of elements.
class Magnitudes {
public:
  /// Exponents of the least subnormal f32, and of the largest f32.
  static constexpr int least = -149, most = 127;

  uint64_t zeros = 0, nonFinite = 0;
  double largest = 0; ///< of the finite ones

  void add(double element);
  void add(const Magnitudes &other);
  /// Returns the number of elements in [2^e, 2^(e+1)).
  uint64_t count(int e) const;
  /// Returns the exponents that occur, in ascending order, with their numbers
  /// of elements.
  std::vector<std::pair<int, uint64_t>> exponents() const;
  /// Returns the number of elements that are finite and not zero.
  uint64_t nonZeros() const;
  uint64_t elements() const { return zeros + nonFinite + nonZeros(); }

  /// Returns the fates of the elements times 2^shift in f16.
  HalfCounts inHalf(int shift, int headroom) const;

private:
  /// The parts of an exponent's interval whose numbers have the same fate at
  /// every power of two: the least number alone, and the ranges from which
  /// rounding to ten and to eleven bits reaches the next exponent.
  static constexpr std::array<double, 4> parts = {1, 1 + 0x1p-52, 2 - 0x1p-10,
                                                  2 - 0x1p-11};
  /// Indexed by e - least, and by part.
  std::array<std::array<uint64_t, parts.size()>, most - least + 1> counts = {};
};

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_MAGNITUDES_H
