//===- gemm-epilogue.cuh - from sums in registers to results in memory ----===//
//
// Sums pass through shared memory, so that a thread has neighbours of a row:
// results are stored, and what is combined with them is read, 16 bytes at once.
// Each thread keeps to its columns.
//
// What is done with the sums is an Epilogue, which generated code brings:
//
//   static constexpr int width;        elements that a thread has at once
//   void enter(column)                 before the first of a tile
//   void apply(row, column, sums)      `width` sums from there on
//   void leave(tileRow, column, columns, shared)  after the last of a tile that
//                                      has `columns`, called by all threads,
//                                      also those that had nothing to apply:
//                                      writes partial results of reductions
//
// Rows and columns are those of the whole result.
//
// Partial results are combined in an order that the shapes alone determine.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "combine.cuh"
#include "gemm-math.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Runs of elements
//===----------------------------------------------------------------------===//

/// Elements of T that are loaded at once where `Count` follow one another.
template <typename T, int Count>
constexpr int inVector = min(Count, static_cast<int>(16 / sizeof(T)));

template <typename T, int Count>
void loadRun(T (&to)[Count], Global<T> from, long long index) {
  constexpr int part = inVector<T, Count>;
#pragma unroll
  for (int i = 0; i < Count; i += part) {
    auto vector = from.template loadVector<part>(index + i);
#pragma unroll
    for (int j = 0; j < part; ++j)
      to[i + j] = vector.items[j];
  }
}

template <typename T, int Count>
void storeRun(Global<T> to, long long index, const T (&from)[Count]) {
  constexpr int part = inVector<T, Count>;
#pragma unroll
  for (int i = 0; i < Count; i += part) {
    Vector<T, part> vector;
#pragma unroll
    for (int j = 0; j < part; ++j)
      vector.items[j] = from[i + j];
    to.template storeVector<part>(index + i, vector);
  }
}

template <typename T, int Count>
void loadShared(T (&to)[Count], const T *from) {
  constexpr int part = inVector<T, Count>;
#pragma unroll
  for (int i = 0; i < Count; i += part) {
    auto vector = *reinterpret_cast<const Vector<T, part> *>(from + i);
#pragma unroll
    for (int j = 0; j < part; ++j)
      to[i + j] = vector.items[j];
  }
}

/// Before the one rounding of a sum.
template <typename T> float addBias(float sum, T bias) {
  return sum + toFloat(bias);
}
inline double addBias(double sum, double bias) { return sum + bias; }
template <typename T> double addBias(double sum, T bias) {
  return sum + static_cast<double>(toFloat(bias));
}

//===----------------------------------------------------------------------===//
// Who has which elements
//===----------------------------------------------------------------------===//

/// Threads over rows of Columns elements, Width to each.
template <int Threads, int Columns, int Width> struct Walk {
  static constexpr int perRow = Columns / Width, rows = Threads / perRow;
  static_assert(rows >= 1, "threads to a row");
  static int row() { return threadIdx.x / perRow; }
  static int column() { return threadIdx.x % perRow * Width; }
};

/// Hands a tile's sums to an epilogue; gemm.cuh says what Operands are.
template <typename P, typename Math, typename Operands, typename Epilogue>
void applyTile(const Math &math, const Operands &operands, Epilogue &epilogue,
               unsigned char *shared) {
  using Sum = typename Math::Sum;
  constexpr int threads = P::warpsM * P::warpsN * 32;
  using W = Walk<threads, P::tileN, Epilogue::width>;
  auto *staged = reinterpret_cast<Sum *>(shared);
  long long own = operands.place.template column<P>() + W::column();
  bool inside = P::n % P::tileN == 0 || own < P::n;
  if (inside)
    epilogue.enter(operands.resultColumn(own));
#pragma unroll 1
  for (int slab = 0; slab < Math::slabs; ++slab) {
    barrier();
    math.stage(slab, staged);
    barrier();
#pragma unroll 1
    for (int r = W::row(); r < Math::slabRows; r += W::rows) {
      long long at = operands.place.template row<P>() + Math::rowOf(slab, r);
      if (inside && (P::m % P::tileM == 0 || at < P::m) && operands.has(at)) {
        Sum sums[Epilogue::width];
        loadShared(sums, staged + r * stagedPitch<P> + W::column());
        epilogue.apply(operands.resultRow(at, own), operands.resultColumn(own),
                       sums);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Stores what a block's threads have of sums down its columns, as
/// partials[tileRow] of [.., AllColumns]; only `columns` of them exist.
template <typename Combine, int Threads, int Columns, long long AllColumns,
          int Width, typename T>
void leaveColumns(const T (&own)[Width], Global<T> partials, long long tileRow,
                  long long column, long long columns, unsigned char *shared) {
  using W = Walk<Threads, Columns, Width>;
  auto *values = reinterpret_cast<T *>(shared);
  barrier();
#pragma unroll
  for (int i = 0; i < Width; ++i)
    values[W::row() * Columns + W::column() + i] = own[i];
  combineLanes<Combine, Threads, W::rows, Columns>(values);
  for (int i = threadIdx.x; i < Columns; i += Threads)
    if (i < columns)
      partials.store(tileRow * AllColumns + column + i, values[i]);
}

/// Stores what a block's threads have of one total, as partials[block].
template <typename Combine, int Threads, typename T>
void leaveTotal(T own, Global<T> partials, unsigned char *shared) {
  auto *values = reinterpret_cast<T *>(shared);
  barrier();
  values[threadIdx.x] = own;
  combineLanes<Combine, Threads, Threads, 1>(values);
  if (threadIdx.x == 0)
    partials.store(blockIdx.x, values[0]);
}

} // namespace mp
