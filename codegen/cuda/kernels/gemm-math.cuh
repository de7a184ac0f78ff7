//===- gemm-math.cuh - what a block's warps do with tiles of operands -----===//
//
// Each of these keeps a block's sums in registers, multiplies a tile of A and
// one of B in `steps` steps, whose operands are read from shared memory into a
// Fragment first, and hands the sums out in slabs: some rows of the tile of C,
// from all warps.
//
// A product P is a struct of constants; gemm.cuh has the list.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-tile.cuh"

namespace mp {

enum class Path {
  Half,  ///< f16 or bf16 on tensor cores
  Wgmma, ///< the same by warpgroups of Hopper (gemm-wgmma.cuh)
  Tf32,  ///< f32 rounded to tf32, on tensor cores
  Fma,   ///< f32, each sum in the order of k
  Any,   ///< any type, each sum in the order of k
  Taps,
  Places, ///< depthwise convolutions (conv-depthwise.cuh)
};
/// Whether tiles of operands come through a ring in shared memory.
constexpr bool hasRing(Path path) {
  return path == Path::Half || path == Path::Wgmma || path == Path::Tf32 ||
         path == Path::Fma;
}

/// Elements between rows of staged sums: eight apart, so that the rows of a
/// fragment lie in different banks.
template <typename P> constexpr int stagedPitch = P::tileN + 8;

/// Whether an operand's neighbours in memory are neighbours in k.
template <typename P> constexpr bool alongDepthA = !P::transposeA;
template <typename P> constexpr bool alongDepthB = P::transposeB;

template <typename P, bool AlongDepth, int Extent, Access How>
using OperandTile =
    SharedTile<typename P::Element, AlongDepth ? Extent : P::tileK,
               AlongDepth ? P::tileK : Extent, How>;

/// Warps side by side, warpsM x warpsN, each with fragmentsM x fragmentsN
/// fragments of 16 x 8 sums.
template <typename P> class WarpSums {
public:
  static constexpr int warpM = P::tileM / P::warpsM;
  static constexpr int warpN = P::tileN / P::warpsN;
  static constexpr int fragmentsM = warpM / 16, fragmentsN = warpN / 8;
  // Powers of two, so that a fragment's column has bits of its own.
  static_assert(warpM % 16 == 0 && (warpM & (warpM - 1)) == 0 &&
                    warpN % 16 == 0 && (warpN & (warpN - 1)) == 0,
                "a warp's part of a tile");

  // A slab has the same fragments of all warps.
  static constexpr int slabs = fragmentsM, slabRows = P::warpsM * 16;
  static constexpr int rowOf(int slab, int row) {
    return row / 16 * warpM + slab * 16 + row % 16;
  }

  int lane() const { return threadIdx.x % 32; }
  int warpRow() const { return threadIdx.x / 32 / P::warpsN * warpM; }
  int warpColumn() const { return threadIdx.x / 32 % P::warpsN * warpN; }

  /// Writes a slab's sums to `staged`.
  void stage(int slab, float *staged) const {
    int row = threadIdx.x / 32 / P::warpsN * 16 + lane() / 4;
#pragma unroll
    for (int i = 0; i < fragmentsM; ++i)
      if (i == slab)
#pragma unroll
        for (int j = 0; j < fragmentsN; ++j) {
          float *to = staged + row * stagedPitch<P> + warpColumn() + j * 8 +
                      lane() % 4 * 2;
          *reinterpret_cast<Vector<float, 2> *>(to) = {sums[i][j][0],
                                                       sums[i][j][1]};
          *reinterpret_cast<Vector<float, 2> *>(to + 8 * stagedPitch<P>) = {
              sums[i][j][2], sums[i][j][3]};
        }
  }

  float sums[fragmentsM][fragmentsN][4] = {};
};

/// f16 and bf16 by m16n8k16.
template <typename P> class HalfMath : public WarpSums<P> {
  using T = typename P::Element;
  using Base = WarpSums<P>;

public:
  using Sum = float;
  using TileA = OperandTile<P, alongDepthA<P>, P::tileM, Access::Neighbours>;
  using TileB = OperandTile<P, alongDepthB<P>, P::tileN, Access::Neighbours>;
  static constexpr int steps = P::tileK / 16;

  struct Fragment {
    unsigned a[Base::fragmentsM][4], b[Base::fragmentsN][2];
  };

  void load(Fragment &fragment, const T *a, const T *b, int step) const {
    const int k = step * 16;
#pragma unroll
    for (int i = 0; i < Base::fragmentsM; ++i)
      if constexpr (alongDepthA<P>)
        loadMatrices(fragment.a[i], a + (startA ^ k) + i * 16 * TileA::columns);
      else
        loadMatricesTransposed(fragment.a[i],
                               a + (startA ^ i * 16) + k * TileA::columns);
#pragma unroll
    for (int j = 0; j < Base::fragmentsN; j += 2) {
      unsigned both[4];
      if constexpr (alongDepthB<P>)
        loadMatrices(both, b + (startB ^ k) + j * 8 * TileB::columns);
      else
        loadMatricesTransposed(both, b + (startB ^ j * 8) + k * TileB::columns);
      fragment.b[j][0] = both[0], fragment.b[j][1] = both[1];
      fragment.b[j + 1][0] = both[2], fragment.b[j + 1][1] = both[3];
    }
  }

  void multiply(const Fragment &fragment) {
#pragma unroll
    for (int i = 0; i < Base::fragmentsM; ++i)
#pragma unroll
      for (int j = 0; j < Base::fragmentsN; ++j)
        mp::multiply<T>(this->sums[i][j], fragment.a[i], fragment.b[j]);
  }

private:
  // Which row a lane has of the four matrices that are loaded at once: A's
  // first two lie below one another, B's follow one another in k. The other
  // fragments' lie at distances that no swizzle changes.
  int placeA() const {
    int near = this->lane() % 16, far = this->lane() / 16 * 8;
    return alongDepthA<P>
               ? TileA::offset(this->warpRow() + near, far)
               : TileA::offset(far + near % 8, this->warpRow() + near / 8 * 8);
  }
  int placeB() const {
    int near = this->lane() % 16, far = this->lane() / 16 * 8;
    return alongDepthB<P> ? TileB::offset(this->warpColumn() + far + near % 8,
                                          near / 8 * 8)
                          : TileB::offset(near, this->warpColumn() + far);
  }
  const int startA = placeA(), startB = placeB();
};

/// f32 by m16n8k8 of tf32.
template <typename P> class Tf32Math : public WarpSums<P> {
  using Base = WarpSums<P>;
  static constexpr Access how(bool alongDepth) {
    return alongDepth ? Access::Neighbours : Access::Pairs;
  }

public:
  using Sum = float;
  using TileA = OperandTile<P, alongDepthA<P>, P::tileM, how(alongDepthA<P>)>;
  using TileB = OperandTile<P, alongDepthB<P>, P::tileN, how(alongDepthB<P>)>;
  static constexpr int steps = P::tileK / 8;

  struct Fragment {
    unsigned a[Base::fragmentsM][4], b[Base::fragmentsN][2];
  };

  void load(Fragment &fragment, const float *a, const float *b,
            int step) const {
    int near = this->lane() % 16, far = this->lane() / 16;
    int across = this->lane() / 4, deep = this->lane() % 4;
#pragma unroll
    for (int i = 0; i < Base::fragmentsM; ++i) {
      int m = this->warpRow() + i * 16, k = step * 8;
      // Four f32 are the 16 bytes that a matrix has in a row.
      if constexpr (alongDepthA<P>)
        loadMatrices(fragment.a[i], a + TileA::offset(m + near, k + far * 4));
      else
        for (int e = 0; e < 4; ++e)
          fragment.a[i][e] = bitsOf(
              a[TileA::offset(k + deep + e / 2 * 4, m + across + e % 2 * 8)]);
    }
#pragma unroll
    for (int j = 0; j < Base::fragmentsN; j += 2) {
      int n = this->warpColumn() + j * 8, k = step * 8;
      unsigned both[4];
      if constexpr (alongDepthB<P>)
        loadMatrices(
            both, b + TileB::offset(n + far * 8 + near % 8, k + near / 8 * 4));
      else
        for (int e = 0; e < 4; ++e)
          both[e] = bitsOf(
              b[TileB::offset(k + deep + e % 2 * 4, n + across + e / 2 * 8)]);
      fragment.b[j][0] = both[0], fragment.b[j][1] = both[1];
      fragment.b[j + 1][0] = both[2], fragment.b[j + 1][1] = both[3];
    }
    round(fragment);
  }

  void multiply(const Fragment &fragment) {
#pragma unroll
    for (int i = 0; i < Base::fragmentsM; ++i)
#pragma unroll
      for (int j = 0; j < Base::fragmentsN; ++j)
        multiplyTf32(this->sums[i][j], fragment.a[i], fragment.b[j]);
  }

private:
  static void round(Fragment &fragment) {
#pragma unroll
    for (auto &a : fragment.a)
#pragma unroll
      for (unsigned &element : a)
        element = toTf32(fromBits(element));
#pragma unroll
    for (auto &b : fragment.b)
#pragma unroll
      for (unsigned &element : b)
        element = toTf32(fromBits(element));
  }
};

/// f32 without tensor cores. Threads lie 16 side by side; each has groups of
/// 4 x 4 sums.
template <typename P> class FmaMath {
  static constexpr int threads = P::warpsM * P::warpsN * 32;
  static constexpr int down = threads / 16;
  static constexpr int groupsM = P::tileM / (down * 4);
  static constexpr int groupsN = P::tileN / 64;
  static_assert(groupsM >= 1 && groupsN >= 1, "a thread's part of a tile");
  static constexpr Access how(bool alongDepth) {
    return alongDepth ? Access::EveryFourth : Access::Neighbours;
  }

public:
  using Sum = float;
  using TileA = OperandTile<P, alongDepthA<P>, P::tileM, how(alongDepthA<P>)>;
  using TileB = OperandTile<P, alongDepthB<P>, P::tileN, how(alongDepthB<P>)>;
  static constexpr int steps = P::tileK / 4;
  static constexpr int slabs = groupsM, slabRows = down * 4;
  static constexpr int rowOf(int slab, int row) {
    return slab * slabRows + row;
  }

  struct Fragment {
    float a[groupsM * 4][4], b[groupsN * 4][4];
  };

  void load(Fragment &fragment, const float *a, const float *b,
            int step) const {
#pragma unroll
    for (int i = 0; i < groupsM; ++i)
      loadGroup<TileA, alongDepthA<P>>(
          fragment.a + i * 4, a, i * down * 4 + threadIdx.x / 16 * 4, step * 4);
#pragma unroll
    for (int j = 0; j < groupsN; ++j)
      loadGroup<TileB, alongDepthB<P>>(fragment.b + j * 4, b,
                                       j * 64 + threadIdx.x % 16 * 4, step * 4);
  }

  void multiply(const Fragment &fragment) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int i = 0; i < groupsM * 4; ++i)
#pragma unroll
        for (int j = 0; j < groupsN * 4; ++j)
          sums[i][j] = fma(fragment.a[i][k], fragment.b[j][k], sums[i][j]);
  }

  void stage(int slab, float *staged) const {
    float *corner =
        staged + threadIdx.x / 16 * 4 * stagedPitch<P> + threadIdx.x % 16 * 4;
#pragma unroll
    for (int i = 0; i < groupsM; ++i)
      if (i == slab)
#pragma unroll
        for (int row = 0; row < 4; ++row)
#pragma unroll
          for (int j = 0; j < groupsN; ++j) {
            const float *from = &sums[i * 4 + row][j * 4];
            *reinterpret_cast<Vector<float, 4> *>(
                corner + row * stagedPitch<P> + j * 64) = {from[0], from[1],
                                                           from[2], from[3]};
          }
  }

private:
  /// Four neighbours across k at four neighbours in k.
  template <typename Tile, bool AlongDepth>
  static void loadGroup(float (*to)[4], const float *tile, int across, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int offset = AlongDepth ? Tile::offset(across + i, k)
                              : Tile::offset(k + i, across);
      auto four = *reinterpret_cast<const Vector<float, 4> *>(tile + offset);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        (AlongDepth ? to[i][j] : to[j][i]) = four.items[j];
    }
  }

  float sums[groupsM * 4][groupsN * 4] = {};
};

} // namespace mp
