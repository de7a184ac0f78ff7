//===- combine.cuh - partial results of blocks become results -------------===//
//
// Combine has `T neutral()` and `T combine(T, T)`. Always in the same order.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "prelude.cuh"

namespace mp {

/// Combines values[Lanes][Columns] down the lanes into values[0], by the whole
/// block.
template <typename Combine, int Threads, int Lanes, int Columns, typename T>
void combineLanes(T *values) {
  static_assert((Lanes & (Lanes - 1)) == 0, "lanes are halved");
  barrier();
#pragma unroll 1
  for (int half = Lanes / 2; half > 0; half /= 2) {
    for (int i = threadIdx.x; i < half * Columns; i += Threads)
      values[i] = Combine::combine(values[i], values[i + half * Columns]);
    barrier();
  }
}

/// Combines partials[rows][columns] down the rows into result[columns]: the
/// work of block number `block`, of 256 threads, which does Across columns.
/// Needs 256 T of shared memory.
template <typename Combine, int Across, typename T>
void combinePartials(Global<T> partials, Global<T> result, long long rows,
                     long long columns, int block, unsigned char *shared) {
  constexpr int lanes = 256 / Across;
  auto *values = reinterpret_cast<T *>(shared);
  long long column =
      static_cast<long long>(block) * Across + threadIdx.x % Across;
  T own = Combine::neutral();
  if (column < columns)
#pragma unroll 4
    for (long long row = threadIdx.x / Across; row < rows; row += lanes)
      own = Combine::combine(own, partials.load(row * columns + column));
  values[threadIdx.x] = own;
  combineLanes<Combine, 256, lanes, Across>(values);
  if (threadIdx.x < Across && column < columns)
    result.store(column, values[threadIdx.x]);
}

} // namespace mp
