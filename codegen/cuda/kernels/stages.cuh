//===- stages.cuh - what printed kernels of stages have in common ---------===//
//
// A generated kernel says which elements a thread computes and how; how several
// elements are moved at once, and how threads put their parts of a reduction
// together, stands here. Threads are always combined in the same order.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "combine.cuh"
#include "prelude.cuh"
#include "scalars.cuh"

namespace mp {

/// A number known when compiling, as an argument.
template <int N> struct Width {
  static constexpr int value = N;
};

//===----------------------------------------------------------------------===//
// Neighbouring elements
//===----------------------------------------------------------------------===//

/// Zero of a type whose name may be two words, which T() does not accept.
template <typename T> T zero() { return T(); }

/// N neighbouring elements in registers.
template <typename T, int N> struct Items {
  T items[N];

  T &operator[](int i) { return items[i]; }
  const T &operator[](int i) const { return items[i]; }
};

/// Elements in one access of at most 16 bytes.
template <typename T, int N>
constexpr int accessWidth = N * sizeof(T) <= 16 ? N : 16 / sizeof(T);

/// N elements from `index` on, which is a multiple of N.
template <int N, typename T>
Items<T, N> loadItems(Global<T> from, long long index) {
  constexpr int width = accessWidth<T, N>;
  Items<T, N> result;
#pragma unroll
  for (int i = 0; i < N; i += width) {
    Vector<T, width> part = from.template loadVector<width>(index + i);
#pragma unroll
    for (int j = 0; j < width; ++j)
      result[i + j] = part.items[j];
  }
  return result;
}
template <int N, typename T>
void storeItems(Global<T> to, long long index, const Items<T, N> &items) {
  constexpr int width = accessWidth<T, N>;
#pragma unroll
  for (int i = 0; i < N; i += width) {
    Vector<T, width> part;
#pragma unroll
    for (int j = 0; j < width; ++j)
      part.items[j] = items[i + j];
    to.template storeVector<width>(index + i, part);
  }
}

//===----------------------------------------------------------------------===//
// Reductions over threads
//===----------------------------------------------------------------------===//

/// The value of the lane that differs in the bits of `mask`.
template <typename T> T exchange(T value, int mask) {
  if constexpr (isSame<T, float> || isSame<T, double> || isSame<T, long long> ||
                isSame<T, int>)
    return shuffleXor(value, mask);
  else if constexpr (isSame<T, f16> || isSame<T, bf16>)
    return {static_cast<unsigned short>(
        shuffleXor(static_cast<int>(value.bits), mask))};
  else
    return static_cast<T>(shuffleXor(static_cast<int>(value), mask));
}

/// Over the 32 lanes of a warp, all of which get the result.
template <typename T, typename Combine> T reduceWarp(T value, Combine combine) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2)
    value = combine(value, exchange(value, mask));
  return value;
}

/// Over the THREADS of a line, which all get the result: a warp (32), or else
/// the block. `shared` has room for 32 values if it is the block; it may be
/// written again when the function returns.
template <int THREADS, typename T, typename Combine>
T reduceLine(T value, T neutral, unsigned char *shared, Combine combine) {
  value = reduceWarp(value, combine);
  if constexpr (THREADS > 32) {
    constexpr int warps = THREADS / 32;
    T *parts = reinterpret_cast<T *>(shared);
    int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane == 0)
      parts[threadIdx.x / 32] = value;
    barrier();
    value = reduceWarp(lane < warps ? parts[lane] : neutral, combine);
    barrier();
  }
  return value;
}

/// Over the ROWS x COLUMNS threads of a block down the columns: all threads of
/// a column get its result. `shared` has room for a value a thread; it may be
/// written again when the function returns.
template <int ROWS, int COLUMNS, typename T, typename Combine>
T reduceColumn(T value, unsigned char *shared, Combine combine) {
  T *parts = reinterpret_cast<T *>(shared);
  int column = static_cast<int>(threadIdx.x) % COLUMNS;
  parts[threadIdx.x] = value;
  barrier();
  value = parts[column];
#pragma unroll
  for (int row = 1; row < ROWS; ++row)
    value = combine(value, parts[row * COLUMNS + column]);
  barrier();
  return value;
}

/// Waits for the threads of a line.
template <int THREADS> void waitForLine() {
  if constexpr (THREADS > 32)
    barrier();
  else
    warpBarrier();
}

//===----------------------------------------------------------------------===//
// Several kernels in one
//===----------------------------------------------------------------------===//

/// Which of COUNT ranges of blocks `block` is in: `ends` has the end of each.
template <int COUNT> int findRange(const int (&ends)[COUNT], int block) {
  int low = 0, high = COUNT - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (block < ends[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

} // namespace mp
