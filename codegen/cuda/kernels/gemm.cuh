//===- gemm.cuh - matrix products -----------------------------------------===//
//
// c[batch, m, n] = a[batch, m, k] b[batch, k, n], each tensor dense and
// row-major; what becomes of c is the epilogue's business (gemm-epilogue.cuh).
// A block has a tile of C. Tiles of A and B come through a ring of stages in
// shared memory, by copies that run while the block multiplies
// (gemm-tile.cuh), and a tile's fragments through two sets of registers
// (gemm-math.cuh).
//
// A product P is a struct of constants:
//
//   using Element                      type of a and b
//   Path path                          which Math
//   long long batch, m, n, k
//   bool transposeA, transposeB        a is [batch, k, m]; b is [batch, n, k]
//   bool broadcastA, broadcastB        one matrix for the whole batch
//   int tileM, tileN, tileK            of a block
//   int stages, warpsM, warpsN
//   int splits                         blocks that share k, each with as many
//                                      tiles of it, the last with fewer
//   int regionM, regionN               of C, for a block that combines splits
//
// Where operands lie, and where a sum belongs in the result, is the business of
// a class template Operands<P>; Matrices is that of dense matrices, and
// conv.cuh has those of convolutions. All of them have
//
//   rows, columns                      static: of the whole result
//   Operands(a, b, shared)             called by all threads; `shared` is the
//                                      block's memory
//   TilePlace place
//   CopyA<Tile>, CopyB<Tile>           types of what copies tile after tile
//   copyA<Tile>(), copyB<Tile>()       and the block's copies
//   depth()                            terms of the block's sums, at most P::k
//   elementA(m, k), elementB(k, n)     an element, where Path is Any
//   has(m)                             whether the result has this row
//   resultRow(m, n), resultColumn(n)   where a sum is in the result
//   partialRow()                       which partial results of reductions down
//                                      columns are the block's
//
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-any.cuh"
#include "gemm-epilogue.cuh"
#include "gemm-wgmma.cuh"

namespace mp {

/// The tiles along k that the blocks of each split have, but for the last.
template <typename P>
constexpr int tilesOfSplit = ceilDivide(ceilDivide(P::k, P::tileK), P::splits);

/// A block's tile.
struct TilePlace {
  long long batch;
  int split;
  int tileRow, tileColumn; ///< which of the matrix

  template <typename P> int row() const { return tileRow * P::tileM; }
  template <typename P> int column() const { return tileColumn * P::tileN; }
  template <typename P> int depth() const {
    return split * tilesOfSplit<P> * P::tileK;
  }
};

/// Blocks that run at once have tiles of few rows and few columns, so that they
/// find each other's operands in the second-level cache.
template <typename P> TilePlace placeOfBlock() {
  constexpr int down = ceilDivide(P::m, P::tileM);
  constexpr int across = ceilDivide(P::n, P::tileN);
  constexpr int inGroup = 8 * across; // of eight rows of tiles
  int tile = blockIdx.x % (down * across), rest = blockIdx.x / (down * across);
  int first = tile / inGroup * 8;
  // No division by what is known only at run time, if that can be.
  int rows = down % 8 == 0 ? 8 : min(down - first, 8);
  tile %= inGroup;
  return {rest / P::splits, rest % P::splits, first + tile % rows, tile / rows};
}

template <typename P, Path = P::path> struct ChosenMath;
template <typename P> struct ChosenMath<P, Path::Half> {
  using Type = HalfMath<P>;
};
template <typename P> struct ChosenMath<P, Path::Wgmma> {
  using Type = GroupMath<P>;
};
template <typename P> struct ChosenMath<P, Path::Tf32> {
  using Type = Tf32Math<P>;
};
template <typename P> struct ChosenMath<P, Path::Fma> {
  using Type = FmaMath<P>;
};
template <typename P> struct ChosenMath<P, Path::Any> {
  using Type = AnyMath<P>;
};

template <typename P> constexpr int threadsOf = P::warpsM * P::warpsN * 32;

/// Operands and result that are dense matrices.
template <typename P> class Matrices {
  using T = typename P::Element;

public:
  static constexpr long long rows = P::batch * P::m, columns = P::n;
  Matrices(Global<T> a, Global<T> b, unsigned char *)
      : place(placeOfBlock<P>()), a(a), b(b),
        firstA(P::broadcastA ? 0 : place.batch * P::m * P::k),
        firstB(P::broadcastB ? 0 : place.batch * P::k * P::n) {}

  template <typename Tile>
  using CopyA = TileCopy<Tile, threadsOf<P>, alongDepthA<P> ? P::m : P::k,
                         alongDepthA<P> ? P::k : P::m, !alongDepthA<P>>;
  template <typename Tile>
  using CopyB = TileCopy<Tile, threadsOf<P>, alongDepthB<P> ? P::n : P::k,
                         alongDepthB<P> ? P::k : P::n, !alongDepthB<P>>;
  template <typename Tile> CopyA<Tile> copyA() const {
    int across = place.row<P>(), depth = place.depth<P>();
    return {a, firstA, alongDepthA<P> ? across : depth,
            alongDepthA<P> ? depth : across};
  }
  template <typename Tile> CopyB<Tile> copyB() const {
    int across = place.column<P>(), depth = place.depth<P>();
    return {b, firstB, alongDepthB<P> ? across : depth,
            alongDepthB<P> ? depth : across};
  }

  static constexpr long long depth() { return P::k; }
  T elementA(long long m, long long k) const {
    return a.load(firstA + (P::transposeA ? k * P::m + m : m * P::k + k));
  }
  T elementB(long long k, long long n) const {
    return b.load(firstB + (P::transposeB ? n * P::k + k : k * P::n + n));
  }

  static constexpr bool has(long long) { return true; }
  long long resultRow(long long m, long long) const {
    return place.batch * P::m + m;
  }
  static long long resultColumn(long long n) { return n; }
  long long partialRow() const {
    constexpr long long down = ceilDivide(P::m, P::tileM);
    return place.batch * down + place.tileRow;
  }

  TilePlace place;

private:
  Global<T> a, b;
  long long firstA, firstB;
};

/// The ring of stages.
template <typename P, typename Math, typename Operands> class Pipeline {
  using T = typename P::Element;
  using TileA = typename Math::TileA;
  using TileB = typename Math::TileB;

public:
  Pipeline(const Operands &operands, unsigned char *shared)
      : copyA(operands.template copyA<TileA>()),
        copyB(operands.template copyB<TileB>()), count(tilesOf(operands)),
        shared(shared) {}

  void run(Math &math) {
    if constexpr (P::path == Path::Wgmma)
      runGroups(math);
    else
      runFragments(math);
  }

private:
  /// With many stages, a tile's products go on while the next one's begin, so
  /// its stage is free only at the barrier after that. With few, another block
  /// multiplies while this one waits.
  void runGroups(Math &math) {
    // Sums that are still zeros must not meet those of the loop after it: the
    // compiler would wait for each product (C7515).
    if (count <= 0)
      return;
    constexpr int goOn = P::stages > 3 ? 1 : 0;
    constexpr int ahead = P::stages - 1 - goOn;
#pragma unroll 1
    for (int i = 0; i < ahead; ++i)
      startNext();
#pragma unroll 1
    for (int tile = 0; tile < count; ++tile) {
      waitForCopies<ahead - 1>();
      publishShared();
      barrier();
      math.multiply(tileA(), tileB());
      startNext();
      waitForGroups<goOn>();
      advance(from);
    }
    waitForGroups<0>();
  }

  void runFragments(Math &math) {
    static_assert(Math::steps % 2 == 0, "a step for either set of registers");
#pragma unroll 1
    for (int i = 0; i < P::stages - 1; ++i)
      startNext();
    waitForCopies<P::stages - 2>();
    barrier();
    // Not an array: nothing must depend on a loop's being unrolled.
    typename Math::Fragment even, odd;
    math.load(even, tileA(), tileB(), 0);
#pragma unroll 1
    for (int tile = 0; tile < count; ++tile) {
#pragma unroll 1
      for (int step = 0; step < Math::steps; step += 2) {
        math.load(odd, tileA(), tileB(), step + 1);
        if (step == 0)
          startNext();
        math.multiply(even);
        if (step + 2 == Math::steps)
          nextTile();
        math.load(even, tileA(), tileB(), (step + 2) % Math::steps);
        math.multiply(odd);
      }
    }
  }

  static int tilesOf(const Operands &operands) {
    constexpr int share = tilesOfSplit<P>;
    int tiles = static_cast<int>(ceilDivide(operands.depth(), P::tileK));
    return min(tiles - operands.place.split * share, share);
  }

  static constexpr int stageBytes = TileA::bytes + TileB::bytes;
  static constexpr int ringBytes = P::stages * stageBytes;
  const T *tileA() const { return reinterpret_cast<T *>(shared + from); }
  const T *tileB() const {
    return reinterpret_cast<T *>(shared + from + TileA::bytes);
  }
  static void advance(int &stage) {
    stage = stage + stageBytes == ringBytes ? 0 : stage + stageBytes;
  }

  /// Starts the copies of the next tile, if there is one; either way a group of
  /// copies ends, so that groups count tiles.
  void startNext() {
    if (left > 0) {
      copyA.start(reinterpret_cast<T *>(shared + into));
      copyB.start(reinterpret_cast<T *>(shared + into + TileA::bytes));
    }
    commitCopies();
    --left;
    advance(into);
  }

  /// The next tile has arrived, and all warps have read this one.
  void nextTile() {
    waitForCopies<P::stages - 2>();
    barrier();
    advance(from);
  }

  typename Operands::template CopyA<TileA> copyA;
  typename Operands::template CopyB<TileB> copyB;
  int count;              ///< tiles
  int left = count;       ///< of them, not yet started
  int from = 0, into = 0; ///< where the stages lie in `shared`
  unsigned char *shared;
};

/// A block's tile of the product, or of its share of k, to the epilogue.
template <typename P, template <typename> class Operands = Matrices,
          typename Epilogue>
void multiplyTile(Global<typename P::Element> a, Global<typename P::Element> b,
                  Epilogue &epilogue, unsigned char *shared) {
  using Math = typename ChosenMath<P>::Type;
  Operands<P> operands(a, b, shared);
  int column = operands.place.template column<P>();
  Math math;
  if constexpr (hasRing(P::path))
    Pipeline<P, Math, Operands<P>>(operands, shared).run(math);
  else
    math.run(operands, operands.place.template row<P>(), column);
  applyTile<P>(math, operands, epilogue, shared);
  epilogue.leave(operands.partialRow(), operands.resultColumn(column),
                 P::n - column, shared);
}

/// An epilogue that keeps the sums of a share of k, in partials[splits, rows,
/// columns].
template <typename P, long long Columns> struct PartialSums {
  static constexpr int width = widestOf<P::n>(4) < widestOf<Columns>(4)
                                   ? widestOf<P::n>(4)
                                   : widestOf<Columns>(4);
  Global<float> partials;
  long long first;

  void enter(long long column) {}
  void apply(long long row, long long column, const float (&sums)[width]) {
    storeRun(partials, first + row * Columns + column, sums);
  }
  void leave(long long, long long, long long, unsigned char *) {}
};

/// The first of two kernels of a product with `splits`.
template <typename P, template <typename> class Operands = Matrices>
void multiplySplit(Global<typename P::Element> a, Global<typename P::Element> b,
                   Global<float> partials, unsigned char *shared) {
  using O = Operands<P>;
  PartialSums<P, O::columns> epilogue{partials, placeOfBlock<P>().split *
                                                    (O::rows * O::columns)};
  multiplyTile<P, Operands>(a, b, epilogue, shared);
}

/// The second, of 256 threads: adds the shares in order, a block a region of
/// the result.
template <typename P, template <typename> class Operands = Matrices,
          typename Epilogue>
void addSplits(Global<float> partials, Epilogue &epilogue,
               unsigned char *shared) {
  constexpr int width = Epilogue::width;
  constexpr long long rows = Operands<P>::rows, columns = Operands<P>::columns;
  constexpr long long size = rows * columns;
  constexpr int across = ceilDivide(columns, P::regionN);
  using W = Walk<256, P::regionN, width>;
  long long top = static_cast<long long>(blockIdx.x / across) * P::regionM;
  long long left = static_cast<long long>(blockIdx.x % across) * P::regionN;
  long long column = left + W::column();
  if (column < columns) {
    epilogue.enter(column);
#pragma unroll 1
    for (long long row = top + W::row(); row < min(top + P::regionM, rows);
         row += W::rows) {
      float sums[width] = {};
#pragma unroll 16
      for (int split = 0; split < P::splits; ++split) {
        float share[width];
        loadRun(share, partials, split * size + row * columns + column);
#pragma unroll
        for (int i = 0; i < width; ++i)
          sums[i] = sums[i] + share[i];
      }
      epilogue.apply(row, column, sums);
    }
  }
  epilogue.leave(blockIdx.x / across, left, columns - left, shared);
}

} // namespace mp
