//===- gemm-tile.cuh - tiles of a product's operands in shared memory -----===//
//
// A tile lies in shared memory as it lies in its tensor, row by row. Its
// 16-byte chunks are swizzled: a chunk's place in its row depends on the row,
// so that threads that read one column of chunks find them in different banks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "prelude.cuh"

namespace mp {

template <typename T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T most(T a, T b) { return a < b ? b : a; }
constexpr long long ceilDivide(long long a, long long b) {
  return (a + b - 1) / b;
}

/// Which rows are read at once, by the threads that a bank serves together.
enum class Access {
  Neighbours,  ///< eight neighbouring rows, a chunk of each
  EveryFourth, ///< eight rows, four apart, a chunk of each
  Pairs,       ///< four neighbouring rows, two chunks of each
};

/// A Rows x Columns tile.
template <typename T, int Rows, int Columns, Access How> struct SharedTile {
  using Element = T;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int bytes = Rows * Columns * sizeof(T);
  static constexpr int pitch = Columns; ///< from a row to the next
  /// Whether threads hold fragments of tiles, beside what they copy.
  static constexpr bool hasFragments = true;
  static constexpr int inChunk = 16 / sizeof(T);
  static constexpr int chunks = Columns / inChunk;
  static_assert(chunks >= 1 && (chunks & (chunks - 1)) == 0, "swizzle");

  /// What is added, without carry, to the number of a chunk in this row. Where
  /// a row is shorter than the 128 bytes of all banks, several share them.
  static constexpr int swizzle(int row) {
    constexpr int sharing = most(8 / chunks, 1);
    if constexpr (How == Access::Pairs)
      return (row % 4) * 2 % chunks;
    else if constexpr (How == Access::EveryFourth)
      return row / 4 % min(chunks, 8);
    else
      return row / sharing % min(chunks, 8);
  }
  /// Rows after which `swizzle` begins anew.
  static constexpr int period = How == Access::Pairs         ? 4
                                : How == Access::EveryFourth ? 32
                                                             : 8;
  /// Where an element lies, counted in elements. What lies `period` rows
  /// further down lies `period * pitch` further on; where `column` has the
  /// bits of whole chunks, d, flipped, the offset has.
  static constexpr int offset(int row, int column) {
    int chunk = column / inChunk ^ swizzle(row);
    return row * Columns + chunk * inChunk + column % inChunk;
  }
};

/// A Rows x Columns tile as warpgroups read it (PTX ISA, wgmma, 128-byte
/// swizzling): panels of 128 bytes of each row, one behind the other.
template <typename T, int Rows, int Columns> struct PanelTile {
  using Element = T;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int bytes = Rows * Columns * sizeof(T);
  static constexpr int pitch = 128 / sizeof(T);
  static constexpr bool hasFragments = false;
  static constexpr int inChunk = 16 / sizeof(T);
  static constexpr int period = 8;
  /// From a panel to the next, in bytes.
  static constexpr int panelBytes = Rows * 128;
  static_assert(Columns % pitch == 0 && panelBytes % 1024 == 0, "panels");
  static constexpr int offset(int row, int column) {
    int chunk = column % pitch / inChunk ^ row % period;
    return (column / pitch * Rows + row) * pitch + chunk * inChunk +
           column % inChunk;
  }
};

/// Which elements of a tile each of Threads threads copies, Width at once.
/// Threads lie side by side along rows; each has one column, of `share` rows,
/// and at most Most of them on their way to registers.
template <typename Tile, int Threads, int Width, int Most = 8>
struct TileShare {
  using T = typename Tile::Element;
  static constexpr int perRow = Tile::columns / Width;
  static constexpr int apart = Threads / perRow;
  static constexpr int share = Tile::rows / apart;
  static constexpr int atOnce = min(share, Most);
  static_assert(apart >= 1 && share * apart == Tile::rows, "threads of a copy");
  static int row() { return threadIdx.x / perRow; }
  static int column() { return threadIdx.x % perRow * Width; }
  static int first() { return Tile::offset(row(), column()); }

  /// Where this thread's part of row number i of its share lies.
  static int placeOf(int first, int i) {
    if constexpr (apart % Tile::period == 0)
      return first + i * apart * Tile::pitch;
    else
      return Tile::offset(row() + i * apart, column());
  }

  /// Starts to copy the share: `indexOf(i)` is where the elements lie in
  /// `source`, and zeros come where not `isInside(i)`.
  template <typename IndexOf, typename IsInside>
  static void start(T *tile, int first, Global<T> source,
                    const IndexOf &indexOf, const IsInside &isInside) {
    if constexpr (Width * sizeof(T) >= 4) {
#pragma unroll atOnce
      for (int i = 0; i < share; ++i)
        copyAsync<Width>(tile + placeOf(first, i), source, indexOf(i),
                         isInside(i) ? Width : 0);
    } else {
      // No copy is as narrow as one 16-bit element.
#pragma unroll 1
      for (int i = 0; i < share; i += atOnce) {
        T values[atOnce];
#pragma unroll
        for (int j = 0; j < atOnce; ++j)
          values[j] = isInside(i + j) ? source.load(indexOf(i + j)) : T();
#pragma unroll
        for (int j = 0; j < atOnce; ++j)
          tile[placeOf(first, i + j)] = values[j];
      }
    }
  }
};

/// The largest power of two, at most `elements`, that divides Count.
template <long long Count> constexpr int widestOf(int elements) {
  return elements > 1 && Count % elements ? widestOf<Count>(elements / 2)
                                          : elements;
}

/// 16 bytes of a row that begins anywhere, in registers.
template <typename T> struct Shifted {
  union Chunk {
    Vector<T, 8> items;
    unsigned words[4];
  };

  /// Begins to load eight elements from `index` on, of which the first `valid`
  /// are needed: two loads, of which neighbours have one in common. No load
  /// depends on a branch, so that all of a thread's are under way at once.
  void load(Global<T> source, long long index, int valid) {
    const int by = static_cast<int>(index % 8);
    low = {}, high = {};
    if (valid > 0)
      low.items = source.template loadPadded<8>(index - by);
    if (by + valid > 8)
      high.items = source.template loadPadded<8>(index - by + 8);
  }
  /// Stores what `load` got, and zeros for what is not valid.
  void store(T *to, long long index, int valid) const {
    unsigned words[8];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = low.words[i], words[4 + i] = high.words[i];
    shift(words, static_cast<int>(index % 8));
    Chunk chunk;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned kept = valid > 2 * i + 1 ? ~0u : valid > 2 * i ? 0xffffu : 0u;
      chunk.words[i] = words[i] & kept;
    }
    *reinterpret_cast<Vector<T, 8> *>(to) = chunk.items;
  }

private:
  /// By as many elements as the bits of `by` say: registers have no index.
  static void shift(unsigned (&words)[8], int by) {
#pragma unroll
    for (int i = 0; i < 6; ++i)
      words[i] = by & 4 ? words[i + 2] : words[i];
#pragma unroll
    for (int i = 0; i < 5; ++i)
      words[i] = by & 2 ? words[i + 1] : words[i];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = by & 1 ? words[i] >> 16 | words[i + 1] << 16 : words[i];
  }

  Chunk low, high;
};

/// The copy of Tile after Tile of a Rows x Columns matrix by a block of
/// Threads, each as wide as the matrix's rows are aligned; the tiles follow one
/// another downwards or to the right. What lies outside the matrix becomes
/// zero. Rows begin Pitch elements apart, a multiple of Columns.
template <typename Tile, int Threads, long long Rows, long long Columns,
          bool Downwards, long long Pitch = Columns>
class TileCopy {
  using T = typename Tile::Element;
  /// No copy is as narrow as one 16-bit element.
  static constexpr bool shifts = sizeof(T) == 2 && Columns % 2 == 1;
  using Share =
      TileShare<Tile, Threads,
                shifts ? Tile::inChunk : widestOf<Columns>(Tile::inChunk),
                !shifts              ? 8
                : Tile::hasFragments ? 2
                                     : 4>;
  /// Whether a tile is loaded to registers while the one before is multiplied.
  static constexpr bool loadsAhead =
      shifts && !Tile::hasFragments && Share::share == Share::atOnce;

public:
  /// `first` is the index of the matrix's first element; `row` and `column` are
  /// where its first tile begins.
  TileCopy(Global<T> source, long long first, int row, int column)
      : source(source), place(Share::first()),
        below(static_cast<int>(Rows - row - Share::row())),
        right(static_cast<int>(Columns - column - Share::column())),
        index(first + Pitch * (row + Share::row()) + column + Share::column()) {
    if constexpr (loadsAhead)
      loadShifted(0);
  }

  /// Starts to copy the next tile into `tile`.
  void start(T *tile) {
    if constexpr (shifts)
      startShifted(tile);
    else
      Share::start(
          tile, place, source, [&](int i) { return indexOf(i); },
          [&](int i) {
            return hasRow(i) && (Columns % Tile::columns == 0 || right > 0);
          });
    (Downwards ? below : right) -= Downwards ? Tile::rows : Tile::columns;
    index += Downwards ? Tile::rows * Pitch : Tile::columns;
    if constexpr (loadsAhead)
      loadShifted(0);
  }

private:
  long long indexOf(int i) const { return index + i * Share::apart * Pitch; }
  bool hasRow(int i) const {
    return Rows % Tile::rows == 0 || i * Share::apart < below;
  }

  int validOf(int i) const { return hasRow(i) ? min(right, 8) : 0; }

  void loadShifted(int first) {
#pragma unroll
    for (int j = 0; j < Share::atOnce; ++j)
      chunks[j].load(source, indexOf(first + j), validOf(first + j));
  }
  void startShifted(T *tile) {
#pragma unroll 1
    for (int first = 0; first < Share::share; first += Share::atOnce) {
      if (!loadsAhead)
        loadShifted(first);
#pragma unroll
      for (int j = 0; j < Share::atOnce; ++j) {
        const int i = first + j;
        chunks[j].store(tile + Share::placeOf(place, i), indexOf(i),
                        validOf(i));
      }
    }
  }

  Global<T> source;
  int place;
  int below, right; ///< rows and columns from this thread's first element on
  long long index;  ///< of that element
  Shifted<T> chunks[shifts ? Share::atOnce : 1];
};

} // namespace mp
