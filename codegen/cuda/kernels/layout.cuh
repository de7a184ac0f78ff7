//===- layout.cuh - elements moved, repeated, summed in place -------------===//
//
// Tensors are dense and row-major. An item is WIDTH neighbouring elements,
// which are moved at once: whoever asks for more than one knows that all places
// are multiples of it. A block of 256 threads has EACH items a thread, such
// that neighbouring threads have neighbouring items. Sizes and distances are
// constants, counted in items in the last dimension and in elements elsewhere.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "stages.cuh"

namespace mp {

constexpr int layoutThreads = 256;

/// The number of the thread's item `i`.
template <int EACH, typename Index> Index layoutItem(int block, int i) {
  return static_cast<Index>(block) * (layoutThreads * EACH) +
         i * layoutThreads + static_cast<int>(threadIdx.x);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// A dimension of a box: how many, and how far neighbours are apart in both
/// tensors.
template <long long SIZE, long long FROM, long long TO> struct BoxDim {
  template <typename Index>
  static void locate(Index &item, Index &from, Index &to) {
    Index at = item % static_cast<Index>(SIZE);
    item /= static_cast<Index>(SIZE);
    from += at * static_cast<Index>(FROM);
    to += at * static_cast<Index>(TO);
  }
};

/// Copies ITEMS that lie in a box of both tensors, whose first elements are
/// `from` and `to`. The last dimension comes first.
template <int WIDTH, int EACH, long long ITEMS, typename... Dims, typename T,
          typename Index>
void copyBox(int block, Global<T> source, Index from, Global<T> result,
             Index to) {
  Items<T, WIDTH> items[EACH];
  Index places[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i), at = from;
    places[i] = item < static_cast<Index>(ITEMS) ? to : -1;
    if (places[i] < 0)
      continue;
    (Dims::locate(item, at, places[i]), ...);
    items[i] = loadItems<WIDTH>(source, at);
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i)
    if (places[i] >= 0)
      storeItems(result, places[i], items[i]);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// A dimension of a padded tensor: its size; where the operand's first element
/// is, how far they are apart and how many places they take; how far they are
/// apart in the operand.
template <long long SIZE, long long LOW, long long STEP, long long SPAN,
          long long FROM>
struct PadDim {
  /// Whether there is an element of the operand.
  template <typename Index> static bool locate(Index &item, Index &from) {
    Index at = item % static_cast<Index>(SIZE) - static_cast<Index>(LOW);
    item /= static_cast<Index>(SIZE);
    from += at / static_cast<Index>(STEP) * static_cast<Index>(FROM);
    return at >= 0 && at < static_cast<Index>(SPAN) &&
           at % static_cast<Index>(STEP) == 0;
  }
};

/// All ITEMS of the result. The last dimension comes first.
template <int WIDTH, int EACH, long long ITEMS, typename Index,
          typename... Dims, typename T>
void padBox(int block, Global<T> source, Global<T> result, T padding) {
  Items<T, WIDTH> items[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i), at = 0;
    if (item >= static_cast<Index>(ITEMS))
      continue;
    bool isInside = true;
    ((isInside = Dims::locate(item, at) && isInside), ...);
    if (isInside)
      items[i] = loadItems<WIDTH>(source, at);
    else
#pragma unroll
      for (int j = 0; j < WIDTH; ++j)
        items[i][j] = padding;
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i);
    if (item < static_cast<Index>(ITEMS))
      storeItems(result, item * WIDTH, items[i]);
  }
}

//===----------------------------------------------------------------------===//
// Rows by number
//===----------------------------------------------------------------------===//

/// A tensor [outer, rows, inner], and one that has a row for each index:
/// [outer, count, inner]. Indices are [count], or [outer, count] if BATCHED.
template <long long OUTER, long long ROWS, long long COUNT, long long INNER,
          bool BATCHED>
struct NumberedRows {
  static constexpr long long outer = OUTER, rows = ROWS, count = COUNT;
  static constexpr long long inner = INNER;
  static constexpr bool batched = BATCHED;
};

/// result[outer, i, :] = table[outer, indices[i], :], zeros where there is no
/// such row; the index is indices[outer, i] if the rows are batched. The rows P
/// count items.
template <int WIDTH, int EACH, typename P, typename Index, typename T,
          typename I>
void gatherRows(int block, Global<T> table, Global<I> indices,
                Global<T> result) {
  constexpr Index all = P::outer * P::count * P::inner;
  constexpr Index count = P::count, inner = P::inner;
  Items<T, WIDTH> items[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i);
    if (item >= all)
      continue;
    Index line = item / inner;
    long long row = indices.load(P::batched ? line : line % count);
    if (row >= 0 && row < P::rows) {
      Index from = line / count * static_cast<Index>(P::rows);
      from = (from + static_cast<Index>(row)) * inner + item % inner;
      items[i] = loadItems<WIDTH>(table, from * WIDTH);
    } else {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j)
        items[i][j] = T();
    }
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i);
    if (item < all)
      storeItems(result, item * WIDTH, items[i]);
  }
}

/// table[indices[i], :] = rows[i, :], where there is such a row. The rows P
/// count items, and have no dimensions before them.
template <int WIDTH, int EACH, typename P, typename Index, typename T,
          typename I>
void replaceRows(int block, Global<T> rows, Global<I> indices,
                 Global<T> table) {
  constexpr Index all = P::count * P::inner, inner = P::inner;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i);
    if (item >= all)
      continue;
    long long row = indices.load(item / inner);
    if (row < 0 || row >= P::rows)
      continue;
    Index to = static_cast<Index>(row) * inner + item % inner;
    storeItems(table, to * WIDTH, loadItems<WIDTH>(rows, item * WIDTH));
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// What elements are summed in, and how. Integers wrap.
template <typename T> struct Summed {
  using Type = int;
};
template <> struct Summed<float> {
  using Type = float;
};
template <> struct Summed<f16> {
  using Type = float;
};
template <> struct Summed<bf16> {
  using Type = float;
};
template <> struct Summed<double> {
  using Type = double;
};
template <> struct Summed<long long> {
  using Type = long long;
};
template <typename T> typename Summed<T>::Type toSummed(T value) {
  if constexpr (isSame<typename Summed<T>::Type, float>)
    return toFloat(value);
  else
    return value;
}
template <typename T> T fromSummed(typename Summed<T>::Type sum) {
  if constexpr (isSame<typename Summed<T>::Type, float>)
    return roundTo<T>(sum);
  else
    return static_cast<T>(sum);
}
template <typename S> S addSummed(S a, S b) {
  if constexpr (isSame<S, float> || isSame<S, double>)
    return a + b;
  else
    return wrapAdd(a, b);
}

/// The sum of the values of a line's threads before this one; `total` becomes
/// that of all. A line is a warp (32 threads) or the block; `shared` has room
/// for 32 values if it is the block, and may be written again when the function
/// returns.
template <int THREADS, typename S>
S sumBefore(S value, S &total, unsigned char *shared) {
  const int thread = static_cast<int>(threadIdx.x) % THREADS;
  S before = 0;
  total = value;
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) {
    S other = exchange(total, mask);
    if (thread & mask)
      before = addSummed(other, before);
    total = thread & mask ? addSummed(other, total) : addSummed(total, other);
  }
  if constexpr (THREADS > 32) {
    S *parts = reinterpret_cast<S *>(shared);
    if (thread % 32 == 0)
      parts[thread / 32] = total;
    barrier();
    S lower = 0;
    total = 0;
#pragma unroll
    for (int warp = 0; warp < THREADS / 32; ++warp) {
      if (warp < thread / 32)
        lower = addSummed(lower, parts[warp]);
      total = addSummed(total, parts[warp]);
    }
    barrier();
    before = addSummed(lower, before);
  }
  return before;
}

//===----------------------------------------------------------------------===//
// Rows added up at their indices
//===----------------------------------------------------------------------===//

/// result[outer, r, :] = base[outer, r, :] + sum of updates[outer, i, :] where
/// indices[i] is r, in the order of i; without BASED the sums begin at zero. A
/// block has DOWN rows and ACROSS columns of the result.
///
/// A block looks at all indices, some thousand at a time, and lists those of
/// its rows; a sum belongs to one thread, so that there is nothing to wait for
/// while the listed updates are added.
template <typename P, int DOWN, int ACROSS, bool BASED, typename T, typename I>
void scatterRows(int block, Global<T> updates, Global<I> indices,
                 Global<T> base, Global<T> result, unsigned char *shared) {
  using S = typename Summed<T>::Type;
  constexpr int groups = layoutThreads / ACROSS;
  constexpr int each = 4, listed = layoutThreads * each, ahead = 8;
  constexpr int tilesAcross = (P::inner + ACROSS - 1) / ACROSS;
  constexpr int tilesDown = (P::rows + DOWN - 1) / DOWN;
  S *sums = reinterpret_cast<S *>(shared);                   // [down][ACROSS]
  int *list = reinterpret_cast<int *>(sums + DOWN * ACROSS); // [listed]
  unsigned char *scratch = reinterpret_cast<unsigned char *>(list + listed);

  const int thread = threadIdx.x;
  const int lane = thread % ACROSS, group = thread / ACROSS;
  const long long column =
      static_cast<long long>(block % tilesAcross) * ACROSS + lane;
  const long long firstRow =
      static_cast<long long>(block / tilesAcross % tilesDown) * DOWN;
  const long long outer = block / tilesAcross / tilesDown;
  const bool isColumn = column < P::inner;
  const long long own = P::batched ? outer * P::count : 0; // first index
  const long long from = outer * P::count * P::inner + column;
  const long long to = (outer * P::rows + firstRow) * P::inner + column;

  // A thread has the sums of its column in every `groups`-th row.
  for (int row = group; row < DOWN; row += groups) {
    S start = 0;
    if constexpr (BASED)
      if (isColumn && firstRow + row < P::rows)
        start = toSummed(base.load(to + row * P::inner));
    sums[row * ACROSS + lane] = start;
  }
#pragma unroll 1
  for (long long begin = 0; begin < P::count; begin += listed) {
    int rows[each], found = 0, total;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      long long at = begin + thread * each + i;
      long long row = at < P::count ? indices.load(own + at) - firstRow : -1;
      bool isOurs = row >= 0 && row < DOWN && firstRow + row < P::rows;
      rows[i] = isOurs ? static_cast<int>(row) : -1;
      found += isOurs;
    }
    int place = sumBefore<layoutThreads>(found, total, scratch);
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (rows[i] >= 0)
        list[place++] = rows[i] * listed + thread * each + i;
    barrier();
#pragma unroll 1
    for (int first = 0; first < total; first += ahead) {
      S terms[ahead];
      int rowOf[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        int entry = first + i < total ? list[first + i] : -1;
        rowOf[i] = entry < 0 ? -1 : entry / listed;
        if (!isColumn || rowOf[i] % groups != group)
          rowOf[i] = -1;
        if (rowOf[i] >= 0)
          terms[i] = toSummed(
              updates.load(from + (begin + entry % listed) * P::inner));
      }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (rowOf[i] >= 0) {
          S &sum = sums[rowOf[i] * ACROSS + lane];
          sum = addSummed(sum, terms[i]);
        }
    }
    barrier();
  }
  for (int row = group; row < DOWN; row += groups)
    if (isColumn && firstRow + row < P::rows)
      result.store(to + row * P::inner,
                   fromSummed<T>(sums[row * ACROSS + lane]));
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

/// Sums along the middle of [outer, size, inner].
template <long long OUTER, long long SIZE, long long INNER, bool REVERSE>
struct RunningSum {
  static constexpr long long outer = OUTER, size = SIZE, inner = INNER;
  static constexpr bool reverse = REVERSE;
};

/// A thread has a column, whose elements it adds in order.
template <int THREADS, typename P, typename T>
void sumColumns(int block, Global<T> source, Global<T> result) {
  constexpr int ahead = 8;
  const long long item = static_cast<long long>(block) * THREADS + threadIdx.x;
  if (item >= P::outer * P::inner)
    return;
  const long long step = P::reverse ? -P::inner : P::inner;
  long long at = item / P::inner * P::size * P::inner + item % P::inner;
  if constexpr (P::reverse)
    at += (P::size - 1) * P::inner;
  typename Summed<T>::Type sum = 0;
#pragma unroll 1
  for (long long first = 0; first < P::size; first += ahead) {
    T values[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i)
      values[i] = first + i < P::size ? source.load(at + i * step) : T();
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      sum = addSummed(sum, toSummed(values[i]));
      if (first + i < P::size)
        result.store(at + i * step, fromSummed<T>(sum));
    }
    at += ahead * step;
  }
}

/// The same where `inner` is one: a line of threads has a row. Each thread adds
/// up four neighbours, then threads and what came before are put together.
template <int THREADS, typename P, typename T>
void sumRows(int block, Global<T> source, Global<T> result,
             unsigned char *shared) {
  using S = typename Summed<T>::Type;
  constexpr int each = 4;
  const int thread = threadIdx.x;
  const long long row =
      static_cast<long long>(block) * (layoutThreads / THREADS) +
      thread / THREADS;
  if (row >= P::outer)
    return;
  S carry = 0;
#pragma unroll 1
  for (long long begin = 0; begin < P::size; begin += THREADS * each) {
    const long long first = begin + thread % THREADS * each;
    S sums[each], sum = 0, total;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      long long at = first + i;
      long long place = P::reverse ? P::size - 1 - at : at;
      if (at < P::size)
        sum = addSummed(sum, toSummed(source.load(row * P::size + place)));
      sums[i] = sum;
    }
    S before = addSummed(carry, sumBefore<THREADS>(sum, total, shared));
#pragma unroll
    for (int i = 0; i < each; ++i) {
      long long at = first + i;
      long long place = P::reverse ? P::size - 1 - at : at;
      if (at < P::size)
        result.store(row * P::size + place,
                     fromSummed<T>(addSummed(before, sums[i])));
    }
    carry = addSummed(carry, total);
  }
}

} // namespace mp
