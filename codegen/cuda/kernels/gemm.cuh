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
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-any.cuh"
#include "gemm-epilogue.cuh"

namespace mp {

/// A block's tile.
struct TilePlace {
  long long batch;
  int split;
  int tileRow, tileColumn; ///< which of the matrix
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
template <typename P> struct ChosenMath<P, Path::Tf32> {
  using Type = Tf32Math<P>;
};
template <typename P> struct ChosenMath<P, Path::Fma> {
  using Type = FmaMath<P>;
};
template <typename P> struct ChosenMath<P, Path::Any> {
  using Type = AnyMath<P>;
};

/// The ring of stages.
template <typename P, typename Math> class Pipeline {
  using T = typename P::Element;
  using TileA = typename Math::TileA;
  using TileB = typename Math::TileB;
  static constexpr int threads = P::warpsM * P::warpsN * 32;
  static_assert(Math::steps % 2 == 0, "a step for either set of registers");

public:
  Pipeline(Global<T> a, Global<T> b, const TilePlace &place,
           unsigned char *shared)
      : copyA(a, P::broadcastA ? 0 : place.batch * P::m * P::k,
              alongDepthA<P> ? row(place) : depth(place),
              alongDepthA<P> ? depth(place) : row(place)),
        copyB(b, P::broadcastB ? 0 : place.batch * P::k * P::n,
              alongDepthB<P> ? column(place) : depth(place),
              alongDepthB<P> ? depth(place) : column(place)),
        count(min(tiles - place.split * share, share)), shared(shared) {}

  void run(Math &math) {
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

private:
  static constexpr int tiles = ceilDivide(P::k, P::tileK);
  static constexpr int share = ceilDivide(tiles, P::splits);
  static int row(const TilePlace &place) { return place.tileRow * P::tileM; }
  static int column(const TilePlace &place) {
    return place.tileColumn * P::tileN;
  }
  static int depth(const TilePlace &place) {
    return place.split * share * P::tileK;
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

  TileCopy<TileA, threads, alongDepthA<P> ? P::m : P::k,
           alongDepthA<P> ? P::k : P::m, !alongDepthA<P>>
      copyA;
  TileCopy<TileB, threads, alongDepthB<P> ? P::n : P::k,
           alongDepthB<P> ? P::k : P::n, !alongDepthB<P>>
      copyB;
  int count;              ///< tiles
  int left = count;       ///< of them, not yet started
  int from = 0, into = 0; ///< where the stages lie in `shared`
  unsigned char *shared;
};

/// A block's tile of the product, or of its share of k, to the epilogue.
template <typename P, typename Epilogue>
void multiplyTile(Global<typename P::Element> a, Global<typename P::Element> b,
                  Epilogue &epilogue, unsigned char *shared) {
  using Math = typename ChosenMath<P>::Type;
  TilePlace place = placeOfBlock<P>();
  int row = place.tileRow * P::tileM, column = place.tileColumn * P::tileN;
  Math math;
  if constexpr (P::path == Path::Any)
    math.run(a, P::broadcastA ? 0 : place.batch * P::m * P::k, b,
             P::broadcastB ? 0 : place.batch * P::k * P::n, row, column);
  else
    Pipeline<P, Math>(a, b, place, shared).run(math);
  applyTile<P>(math, epilogue, place.batch * P::m, row, column, shared);
  constexpr long long down = ceilDivide(P::m, P::tileM);
  epilogue.leave(place.batch * down + place.tileRow, column, shared);
}

/// An epilogue that keeps the sums of a share of k, in partials[splits, batch,
/// m, n].
template <typename P> struct PartialSums {
  static constexpr int width = P::n % 4 == 0 ? 4 : P::n % 2 == 0 ? 2 : 1;
  Global<float> partials;
  long long first;

  void enter(long long column) {}
  void apply(long long row, long long column, const float (&sums)[width]) {
    storeRun(partials, first + row * P::n + column, sums);
  }
  void leave(long long tileRow, long long column, unsigned char *shared) {}
};

/// The first of two kernels of a product with `splits`.
template <typename P>
void multiplySplit(Global<typename P::Element> a, Global<typename P::Element> b,
                   Global<float> partials, unsigned char *shared) {
  PartialSums<P> epilogue{partials,
                          placeOfBlock<P>().split * (P::batch * P::m * P::n)};
  multiplyTile<P>(a, b, epilogue, shared);
}

/// The second, of 256 threads: adds the shares in order, a block a region of C,
/// seen as [batch * m, n].
template <typename P, typename Epilogue>
void addSplits(Global<float> partials, Epilogue &epilogue,
               unsigned char *shared) {
  constexpr int width = Epilogue::width;
  constexpr long long rows = P::batch * P::m, size = rows * P::n;
  constexpr int across = ceilDivide(P::n, P::regionN);
  using W = Walk<256, P::regionN, width>;
  long long top = static_cast<long long>(blockIdx.x / across) * P::regionM;
  long long left = static_cast<long long>(blockIdx.x % across) * P::regionN;
  long long column = left + W::column();
  if (column < P::n) {
    epilogue.enter(column);
#pragma unroll 1
    for (long long row = top + W::row(); row < min(top + P::regionM, rows);
         row += W::rows) {
      float sums[width] = {};
#pragma unroll
      for (int split = 0; split < P::splits; ++split) {
        float share[width];
        loadRun(share, partials, split * size + row * P::n + column);
#pragma unroll
        for (int i = 0; i < width; ++i)
          sums[i] = sums[i] + share[i];
      }
      epilogue.apply(row, column, sums);
    }
  }
  epilogue.leave(blockIdx.x / across, left, shared);
}

} // namespace mp
