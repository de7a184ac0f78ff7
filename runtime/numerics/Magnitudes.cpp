//===- Magnitudes.cpp - how large the elements of tensors are -------------===//
#include "runtime/numerics/Magnitudes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace mp {

// Where rounding goes over to the next number, ties to the even one. Half the
// least number is a tie with zero, which is even; so are, on their other side,
// the one below the least normal number and the one above 65504.
static constexpr double kLargestFlushed = 0x1p-25;
static constexpr double kLeastNormal = 0x1p-14 - 0x1p-25;
static constexpr double kLeastInfinite = 65520;

Fate fateInHalf(double magnitude, int headroom) {
  if (magnitude <= kLargestFlushed)
    return Fate::Flushed;
  if (magnitude < kLeastNormal)
    return Fate::Subnormal;
  if (magnitude >= kLeastInfinite)
    return Fate::Overflow;
  // 65504 / 2^headroom is a number of f16 and odd, so the tie above it rounds
  // up, as that above 65504 does.
  return std::ldexp(magnitude, headroom) >= kLeastInfinite ? Fate::NearOverflow
                                                           : Fate::Normal;
}

//===----------------------------------------------------------------------===//
// HalfCounts
//===----------------------------------------------------------------------===//

void HalfCounts::add(const HalfCounts &other) {
  for (auto [count, more] : zip_equal(byFate, other.byFate))
    count += more;
}

uint64_t HalfCounts::all() const { return sum_of(byFate, uint64_t(0)); }

double HalfCounts::share(Fate fate) const {
  uint64_t total = all();
  return total ? static_cast<double>((*this)[fate]) / total : 0;
}

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

void Magnitudes::add(double element) {
  if (element == 0) {
    ++zeros;
    return;
  }
  if (!std::isfinite(element)) {
    ++nonFinite;
    return;
  }
  double magnitude = std::abs(element);
  largest = std::max(largest, magnitude);
  int exponent = std::clamp(std::ilogb(magnitude), least, most);
  double significand = std::ldexp(magnitude, -exponent);
  size_t part = 0;
  while (part + 1 < parts.size() && significand >= parts[part + 1])
    ++part;
  ++counts[exponent - least][part];
}

void Magnitudes::add(const Magnitudes &other) {
  for (auto [row, more] : zip_equal(counts, other.counts))
    for (auto [count, added] : zip_equal(row, more))
      count += added;
  zeros += other.zeros;
  nonFinite += other.nonFinite;
  largest = std::max(largest, other.largest);
}

uint64_t Magnitudes::count(int e) const {
  return sum_of(counts[e - least], uint64_t(0));
}

std::vector<std::pair<int, uint64_t>> Magnitudes::exponents() const {
  std::vector<std::pair<int, uint64_t>> found;
  for (int e = least; e <= most; ++e)
    if (uint64_t here = count(e))
      found.emplace_back(e, here);
  return found;
}

uint64_t Magnitudes::nonZeros() const {
  uint64_t sum = 0;
  for (const auto &row : counts)
    sum += sum_of(row, uint64_t(0));
  return sum;
}

HalfCounts Magnitudes::inHalf(int shift, int headroom) const {
  HalfCounts found;
  for (auto [i, row] : enumerate(counts))
    for (auto [part, count] : zip_equal(parts, row))
      if (count)
        found[fateInHalf(std::ldexp(part, static_cast<int>(i) + least + shift),
                         headroom)] += count;
  return found;
}

} // namespace mp
