//===- sort.cuh - sorted rows ---------------------------------------------===//
//
// Elements are compared by keys, which are integers without a sign in the order
// of the elements, and then by their indices, so that no two are equal and the
// order in which threads work does not matter. A run is a sorted part of a row;
// where there are too few elements it ends with places that come after all
// others.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "stages.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The order of floats is that of sign and magnitude. Zeros have one key, and
/// NaNs have the largest.
template <typename T> auto sortKey(T value) {
  constexpr auto sign = FloatTraits<T>::sign;
  auto bits = bitsOf(value);
  if (value != value)
    return ~static_cast<decltype(bits)>(0);
  if (value == T(0))
    return sign;
  return bits & sign ? ~bits : bits | sign;
}
inline unsigned sortKey(f16 value) { return sortKey(toFloat(value)); }
inline unsigned sortKey(bf16 value) { return sortKey(toFloat(value)); }
inline unsigned sortKey(int value) { return toUnsigned(value) ^ 0x80000000u; }
inline unsigned long long sortKey(long long value) {
  return toUnsigned(value) ^ 0x8000000000000000ull;
}

template <typename K> struct SortEntry {
  K key;
  int index;

  static SortEntry last() { return {~static_cast<K>(0), 0x7fffffff}; }
  bool isBefore(const SortEntry &other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

/// Entries as two arrays; a result has no keys, and its indices in their place.
template <typename K, typename Memory> struct SortEntries {
  Memory keys;
  Global<int> indices;

  void store(long long at, const SortEntry<K> &entry) const {
    if constexpr (!isSame<Memory, Global<int>>)
      keys.store(at, entry.key);
    indices.store(at, entry.index);
  }
  SortEntry<K> load(long long at) const {
    return {keys.load(at), indices.load(at)};
  }
};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Sorts tiles of ROWS rows of SIZE elements, which have TILES each, by bitonic
/// networks, and stores the first LENGTH of every tile. A block has GROUP
/// tiles: launches that share a kernel have equal blocks, however short the
/// rows are.
template <int THREADS, int TILE, int GROUP, long long ROWS, long long SIZE,
          int TILES, int LENGTH, bool DESCENDING, typename K, typename T,
          typename Memory>
void sortTiles(int block, Global<T> source, Memory keys, Global<int> indices,
               unsigned char *shared) {
  constexpr int entries = TILE * GROUP;
  K *tileKeys = reinterpret_cast<K *>(shared);
  int *tileIndices = reinterpret_cast<int *>(tileKeys + entries);
  const int thread = static_cast<int>(threadIdx.x);
  const long long firstTile = static_cast<long long>(block) * GROUP;

  for (int i = thread; i < entries; i += THREADS) {
    const long long tile = firstTile + i / TILE, row = tile / TILES;
    const int at = static_cast<int>(tile % TILES) * TILE + i % TILE;
    SortEntry<K> entry = SortEntry<K>::last();
    if (row < ROWS && at < SIZE) {
      K key = sortKey(source.load(row * SIZE + at));
      entry = {DESCENDING ? static_cast<K>(~key) : key, at};
    }
    tileKeys[i] = entry.key;
    tileIndices[i] = entry.index;
  }
#pragma unroll 1
  for (int size = 2; size <= TILE; size *= 2)
#pragma unroll 1
    for (int step = size / 2; step > 0; step /= 2) {
      barrier();
      for (int i = thread; i < entries / 2; i += THREADS) {
        int low = 2 * i - (i & (step - 1)), high = low + step;
        SortEntry<K> a = {tileKeys[low], tileIndices[low]};
        SortEntry<K> b = {tileKeys[high], tileIndices[high]};
        if (b.isBefore(a) == ((low % TILE & size) == 0)) {
          tileKeys[low] = b.key, tileIndices[low] = b.index;
          tileKeys[high] = a.key, tileIndices[high] = a.index;
        }
      }
    }
  barrier();
  SortEntries<K, Memory> runs = {keys, indices};
  for (int i = thread; i < LENGTH * GROUP; i += THREADS) {
    const long long tile = firstTile + i / LENGTH;
    const int from = i / LENGTH * TILE + i % LENGTH;
    if (tile < ROWS * TILES)
      runs.store(firstTile * LENGTH + i, {tileKeys[from], tileIndices[from]});
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Merges each two neighbours of COUNT runs of LENGTH, in each of ROWS rows,
/// into the first MERGED of their entries. A last run without a neighbour is
/// merged with nothing. A thread has EACH neighbouring entries, and finds by
/// bisection how many entries of each run come before them.
template <int THREADS, int EACH, long long ROWS, int COUNT, int LENGTH,
          int MERGED, typename K, typename Memory>
void mergeRuns(int block, Global<K> keys, Global<int> indices, Memory toKeys,
               Global<int> toIndices) {
  constexpr int parts = (MERGED + EACH - 1) / EACH, pairs = (COUNT + 1) / 2;
  const long long item =
      static_cast<long long>(block) * THREADS + static_cast<int>(threadIdx.x);
  if (item >= ROWS * pairs * parts)
    return;
  const int begin = static_cast<int>(item % parts) * EACH;
  const long long merged = item / parts; // the run
  const int pair = static_cast<int>(merged % pairs);
  const long long first = (merged / pairs * COUNT + 2 * pair) * LENGTH;
  const int others = 2 * pair + 1 < COUNT ? LENGTH : 0;
  SortEntries<K, Global<K>> from = {keys, indices};
  SortEntries<K, Memory> to = {toKeys, toIndices};
  auto left = [&](int at) { return from.load(first + at); };
  auto right = [&](int at) { return from.load(first + LENGTH + at); };

  int low = begin > others ? begin - others : 0;
  int high = begin < LENGTH ? begin : LENGTH;
  while (low < high) {
    int middle = (low + high) / 2;
    if (left(middle).isBefore(right(begin - 1 - middle)))
      low = middle + 1;
    else
      high = middle;
  }
  int a = low, b = begin - low;
  for (int at = begin; at < begin + EACH && at < MERGED; ++at) {
    SortEntry<K> entry = SortEntry<K>::last();
    if (a < LENGTH && (b >= others || left(a).isBefore(right(b))))
      entry = left(a++);
    else if (b < others)
      entry = right(b++);
    to.store(merged * MERGED + at, entry);
  }
}

} // namespace mp
