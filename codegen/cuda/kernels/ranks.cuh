//===- ranks.cuh - what ranks give, reduced in their order ----------------===//
//
// The bits of a result depend neither on the number of blocks nor on which rank
// was first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "scalars.cuh"

namespace mp {

/// Halves are reduced in f32 and rounded once, at the end.
template <typename T> T widen(T value) { return value; }
inline float widen(f16 value) { return toFloat(value); }
inline float widen(bf16 value) { return toFloat(value); }

template <typename T, typename Wide> T narrow(Wide value) {
  if constexpr (isSame<T, Wide>)
    return value;
  else
    return roundTo<T>(value);
}

template <typename T> constexpr bool isFloat = false;
template <> constexpr bool isFloat<float> = true;
template <> constexpr bool isFloat<double> = true;

/// ((0 + x0) + x1) + ...; the zero makes +0 of -0. Integers wrap.
struct SumOfRanks {
  template <typename T> static T first(T value) { return add(T(0), value); }
  template <typename T> static T add(T a, T b) {
    if constexpr (isFloat<T>)
      return a + b;
    else
      return wrapAdd(a, b);
  }
};
/// NaN wins; of +0 and -0, that of the lower rank.
struct MaxOfRanks {
  template <typename T> static T first(T value) { return value; }
  template <typename T> static T add(T a, T b) {
    return b > a || b != b ? b : a;
  }
};
struct OrOfRanks {
  template <typename T> static T first(T value) { return value; }
  template <typename T> static T add(T a, T b) { return a | b; }
};

/// Reduces `count` elements; those of rank r begin at r * count in `from`.
template <typename Reduction, typename T>
void reduceRanks(T *from, T *to, long long count, int ranks) {
  const Global<T> given = global(from, ranks * count);
  const Global<T> result = global(to, count);
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; at < count; at += stride) {
    auto total = Reduction::first(widen(given.load(at)));
    for (int rank = 1; rank < ranks; ++rank)
      total = Reduction::add(total, widen(given.load(rank * count + at)));
    result.store(at, narrow<T>(total));
  }
}

} // namespace mp
