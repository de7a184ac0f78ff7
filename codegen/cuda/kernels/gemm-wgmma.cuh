//===- gemm-wgmma.cuh - products by Hopper's warpgroups -------------------===//
//
// Four warps together multiply what lies in shared memory, while they go on: a
// warpgroup's instruction reads 64 rows of A, and 64 or 128 columns of B, at 16
// k, and needs no registers but those of its sums.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-math.cuh"

namespace mp {

/// Warpgroups side by side, warpsM / 4 x warpsN. Only for sm_90.
template <typename P> class GroupMath {
  using T = typename P::Element;
  static constexpr int groupM = P::tileM / (P::warpsM / 4);
  static constexpr int groupN = P::tileN / P::warpsN;
  /// Columns of an instruction. Twice as many take three times as long to
  /// compile.
  static constexpr int width = min(groupN, 128);
  static constexpr int fragmentsM = groupM / 64, fragmentsN = groupN / width;
  static_assert(P::warpsM % 4 == 0 && groupM % 64 == 0 && groupN % width == 0,
                "a warpgroup's part of a tile");

public:
  using Sum = float;
  using TileA = PanelTile<T, alongDepthA<P> ? P::tileM : P::tileK,
                          alongDepthA<P> ? P::tileK : P::tileM>;
  using TileB = PanelTile<T, alongDepthB<P> ? P::tileN : P::tileK,
                          alongDepthB<P> ? P::tileK : P::tileN>;
  static_assert(P::tileK == TileA::pitch, "one panel of k");

  /// Begins to add the product of two tiles, as a group that waitForGroups
  /// counts.
  void multiply(const T *a, const T *b) {
    const SharedMatrix firstA = matrixAt<TileA, alongDepthA<P>>(a, row());
    const SharedMatrix firstB = matrixAt<TileB, alongDepthB<P>>(b, column());
    beginGroups();
#pragma unroll
    for (int k = 0; k < P::tileK; k += 16)
#pragma unroll
      for (int i = 0; i < fragmentsM; ++i)
#pragma unroll
        for (int j = 0; j < fragmentsN; ++j)
          multiplyMatrices<T, width, !alongDepthA<P>, !alongDepthB<P>>(
              sums[i][j],
              firstA.further(away<TileA, alongDepthA<P>>(i * 64, k)),
              firstB.further(away<TileB, alongDepthB<P>>(j * width, k)));
    commitGroup();
  }

  // A slab has the same 64 rows of all warpgroups.
  static constexpr int slabs = fragmentsM, slabRows = P::warpsM * 16;
  static constexpr int rowOf(int slab, int row) {
    return row / 64 * groupM + slab * 64 + row % 64;
  }

  /// Writes a slab's sums to `staged`: a warp has 16 of the 64 rows, in the
  /// fragments of mma.m16n8k16.
  void stage(int slab, float *staged) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *corner = staged +
                    (warp / 4 / P::warpsN * 64 + warp % 4 * 16 + lane / 4) *
                        stagedPitch<P> +
                    column() + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < fragmentsM; ++i)
      if (i == slab)
#pragma unroll
        for (int j = 0; j < groupN / 8; ++j) {
          const float *from = sums[i][j / (width / 8)][j % (width / 8)];
          auto *to = reinterpret_cast<Vector<float, 2> *>(corner + j * 8);
          to[0] = {from[0], from[1]};
          to[4 * stagedPitch<P>] = {from[2], from[3]};
        }
  }

private:
  static int row() { return threadIdx.x / 128 / P::warpsN * groupM; }
  static int column() { return threadIdx.x / 128 % P::warpsN * groupN; }

  /// Bytes from a tile's corner to what lies there; `across` is a multiple of
  /// 64, k of 16.
  template <typename Tile, bool AlongDepth>
  static constexpr int away(int across, int k) {
    return AlongDepth ? across * 128 + k * static_cast<int>(sizeof(T))
                      : across / 64 * Tile::panelBytes + k * 128;
  }
  template <typename Tile, bool AlongDepth>
  static SharedMatrix matrixAt(const T *tile, int across) {
    return {tile + away<Tile, AlongDepth>(across, 0) / sizeof(T),
            Tile::panelBytes, 8 * 128};
  }

  float sums[fragmentsM][fragmentsN][width / 8][4] = {};
};

} // namespace mp
