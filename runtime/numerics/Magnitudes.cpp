//===- Magnitudes.cpp - exponent histograms of tensors --------------------===//
#include "runtime/numerics/Magnitudes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace mp {

// The thresholds of rounding to nearest even. Half the least f16 number ties
// with zero, which is even. So are the upper neighbours at the other two ties:
// 2^-14, above the largest subnormal, and infinity, above 65504.
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
  // 65504 / 2^headroom is an odd f16 number, so the tie above it rounds up,
  // like the tie above 65504.
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
