//===- loop.cuh - parts of a kernel that runs a whole loop ----------------===//
//
// Between parts of a round that need one another all blocks wait
// (`gridBarrier`). A recurrent network multiplies by the same weights in every
// time step. The kernel reads them once: each block keeps the columns of B that
// it multiplies in its shared memory.
//
// Such a product P is a struct of constants:
//
//   Element          f16, bf16 or float
//   m, n, k          c[m, n] = a[m, k] b[k, n]; m is at most 256
//   transposeB       b lies as [n, k]
//   tileN, threads   columns that a block keeps: 8, 16, 32 or 64, of float at
//                    most 32; 256
//
// Warps share the rows, 32 to each; those that are left share k. Sums of the
// shares of k are added in their order.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-epilogue.cuh"

namespace mp {

/// Copies the addresses of a kernel's arguments to shared memory: barriers make
/// threads read them anew, and there they are near.
inline void copyTable(unsigned char **table, void *const *args, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    table[i] = static_cast<unsigned char *>(args[i]);
}

/// Copies bytes by all threads of the grid, Width at once.
template <int Width>
void copyWords(Global<unsigned char> to, Global<unsigned char> from,
               long long bytes) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (i *= Width; i < bytes; i += threads * Width)
    to.template storeVector<Width>(i, from.template loadVector<Width>(i));
}

/// The same, as wide as both places are aligned.
inline void copyPart(unsigned char *to, unsigned char *from, long long bytes) {
  const unsigned long long all = reinterpret_cast<unsigned long long>(to) |
                                 reinterpret_cast<unsigned long long>(from) |
                                 static_cast<unsigned long long>(bytes);
  const auto target = global(to, bytes), source = global(from, bytes);
  if (all % 16 == 0)
    copyWords<16>(target, source, bytes);
  else if (all % 4 == 0)
    copyWords<4>(target, source, bytes);
  else
    copyWords<1>(target, source, bytes);
}

/// How the warps of a block lie over a product.
template <typename P> struct LoopWarps {
  static constexpr int rowsOfWarp = P::m <= 16 ? 16 : 32;
  static constexpr int down = P::m <= 32    ? 1
                              : P::m <= 64  ? 2
                              : P::m <= 128 ? 4
                                            : 8;
  static constexpr int shares = P::threads / 32 / down; ///< of k
  static constexpr int rows = down * rowsOfWarp;
  static constexpr int pitch = P::tileN + 8; ///< of staged sums
  static_assert(shares >= 1 && rows >= P::m, "rows of a block");

  static int lane() { return threadIdx.x % 32; }
  static int top() { return threadIdx.x / 32 / shares * rowsOfWarp; }
  static int share() { return threadIdx.x / 32 % shares; }
  /// Where this warp's sums of a row begin.
  static float *staged(unsigned char *shared, int row) {
    return reinterpret_cast<float *>(shared) + (share() * rows + row) * pitch;
  }
};

/// Element (k, n) of B, or zero outside.
template <typename P>
typename P::Element elementOfB(Global<typename P::Element> b, long long k,
                               long long n) {
  if (k >= P::k || n >= P::n)
    return typename P::Element();
  return b.load(P::transposeB ? n * P::k + k : k * P::n + n);
}

/// Count elements of a row of A from `k` on, zeros outside.
template <int Count, typename P>
void loadOfA(typename P::Element (&to)[Count], Global<typename P::Element> a,
             int row, long long k) {
  constexpr int part = widestOf<P::k>(Count);
#pragma unroll
  for (int i = 0; i < Count; i += part) {
    Vector<typename P::Element, part> vector = {};
    if (row < P::m && k + i < P::k)
      vector = a.template loadVector<part>(row * P::k + k + i);
#pragma unroll
    for (int j = 0; j < part; ++j)
      to[i + j] = vector.items[j];
  }
}

/// f16 and bf16 by m16n8k16. A lane has eight neighbours in k of its rows and
/// columns, which two steps of 16 take in an order of their own; B is kept in
/// that order.
template <typename P> class LoopHalf {
  using T = typename P::Element;
  using Warps = LoopWarps<P>;
  static constexpr int across = P::tileN / 8, down = Warps::rowsOfWarp / 16;
  static constexpr int steps = static_cast<int>(ceilDivide(P::k, 32));
  union Eight {
    T items[8];
    unsigned words[4];
  };

public:
  static void keep(unsigned char *kept, Global<T> b, long long column) {
#pragma unroll 1
    for (int i = threadIdx.x; i < steps * across * 32; i += P::threads) {
      const int lane = i % 32, fragment = i / 32 % across;
      const long long k = i / 32 / across * 32 + lane % 4 * 8;
      const long long n = column + fragment * 8 + lane / 4;
      Vector<T, 8> eight;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        eight.items[j] = elementOfB<P>(b, k + j, n);
      reinterpret_cast<Vector<T, 8> *>(kept)[i] = eight;
    }
  }

  void multiply(Global<T> a, const unsigned char *kept) {
    const int row = Warps::top() + Warps::lane() / 4;
#pragma unroll 2
    for (int step = Warps::share(); step < steps; step += Warps::shares) {
      const long long k = step * 32 + Warps::lane() % 4 * 8;
      Eight rows[down * 2];
#pragma unroll
      for (int i = 0; i < down * 2; ++i)
        loadOfA<8, P>(rows[i].items, a, row + i * 8, k);
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const auto b = reinterpret_cast<const Vector<unsigned, 4> *>(
            kept)[(step * across + j) * 32 + Warps::lane()];
#pragma unroll
        for (int i = 0; i < down; ++i)
#pragma unroll
          for (int half = 0; half < 4; half += 2) {
            const unsigned low[4] = {
                rows[2 * i].words[half], rows[2 * i + 1].words[half],
                rows[2 * i].words[half + 1], rows[2 * i + 1].words[half + 1]};
            const unsigned right[2] = {b.items[half], b.items[half + 1]};
            mp::multiply<T>(sums[i][j], low, right);
          }
      }
    }
  }

  void stage(unsigned char *shared) const {
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const int row = Warps::top() + i * 16 + Warps::lane() / 4;
        const int column = j * 8 + Warps::lane() % 4 * 2;
        const float (&own)[4] = sums[i][j];
        *reinterpret_cast<Vector<float, 2> *>(Warps::staged(shared, row) +
                                              column) = {own[0], own[1]};
        *reinterpret_cast<Vector<float, 2> *>(Warps::staged(shared, row + 8) +
                                              column) = {own[2], own[3]};
      }
  }

private:
  float sums[down][across][4] = {};
};

/// f32 without tensor cores. Eight lanes lie side by side.
template <typename P> class LoopFloat {
  using Warps = LoopWarps<P>;
  static constexpr int across = P::tileN / 8, down = Warps::rowsOfWarp / 4;
  static constexpr int steps = static_cast<int>(ceilDivide(P::k, 4));

public:
  static void keep(unsigned char *kept, Global<float> b, long long column) {
#pragma unroll 1
    for (int i = threadIdx.x; i < steps * 4 * P::tileN; i += P::threads)
      reinterpret_cast<float *>(kept)[i] =
          elementOfB<P>(b, i / P::tileN, column + i % P::tileN);
  }

  void multiply(Global<float> a, const unsigned char *kept) {
    const int row = Warps::top() + Warps::lane() / 8;
    const auto *right =
        reinterpret_cast<const float *>(kept) + Warps::lane() % 8 * across;
#pragma unroll 1
    for (int step = Warps::share(); step < steps; step += Warps::shares) {
      float left[down][4];
#pragma unroll
      for (int i = 0; i < down; ++i)
        loadOfA<4, P>(left[i], a, row + i * 4, step * 4);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float b[across];
        loadShared(b, right + (step * 4 + k) * P::tileN);
#pragma unroll
        for (int i = 0; i < down; ++i)
#pragma unroll
          for (int j = 0; j < across; ++j)
            sums[i][j] = fma(left[i][k], b[j], sums[i][j]);
      }
    }
  }

  void stage(unsigned char *shared) const {
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
        Warps::staged(shared,
                      Warps::top() + i * 4 +
                          Warps::lane() / 8)[Warps::lane() % 8 * across + j] =
            sums[i][j];
  }

private:
  float sums[down][across] = {};
};

template <typename P, bool IsFloat> struct ChosenLoopMath {
  using Type = LoopHalf<P>;
};
template <typename P> struct ChosenLoopMath<P, true> {
  using Type = LoopFloat<P>;
};
template <typename P>
using LoopMath =
    typename ChosenLoopMath<P, isSame<typename P::Element, float>>::Type;

/// Keeps the columns of a tile in `kept`; all threads may read them after the
/// next barrier.
template <typename P>
void keepTile(int tile, unsigned char *kept, Global<typename P::Element> b) {
  LoopMath<P>::keep(kept, b, static_cast<long long>(tile) * P::tileN);
}

/// Multiplies A by the columns that are kept, and hands the sums to an epilogue
/// that reduces nothing.
template <typename P, typename Epilogue>
void multiplyKept(int tile, const unsigned char *kept,
                  Global<typename P::Element> a, Epilogue &epilogue,
                  unsigned char *shared) {
  using Warps = LoopWarps<P>;
  using W = Walk<P::threads, P::tileN, Epilogue::width>;
  LoopMath<P> math;
  math.multiply(a, kept);
  math.stage(shared);
  barrier();
  const long long column =
      static_cast<long long>(tile) * P::tileN + W::column();
  if (column >= P::n)
    return;
  epilogue.enter(column);
#pragma unroll 1
  for (int row = W::row(); row < P::m; row += W::rows) {
    float sums[Epilogue::width] = {};
#pragma unroll
    for (int share = 0; share < Warps::shares; ++share) {
      float own[Epilogue::width];
      loadShared(own, reinterpret_cast<const float *>(shared) +
                          (share * Warps::rows + row) * Warps::pitch +
                          W::column());
#pragma unroll
      for (int i = 0; i < Epilogue::width; ++i)
        sums[i] = sums[i] + own[i];
    }
    epilogue.apply(row, column, sums);
  }
}

} // namespace mp
