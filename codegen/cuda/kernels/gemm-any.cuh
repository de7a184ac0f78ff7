//===- gemm-any.cuh - products in types that no tensor core takes ---------===//
#pragma once

#include "gemm-math.cuh"

namespace mp {

/// What a type's products are summed in. Integers wrap.
template <typename T> struct SumOf {
  using Type = unsigned;
};
template <> struct SumOf<f16> {
  using Type = float;
};
template <> struct SumOf<bf16> {
  using Type = float;
};
template <> struct SumOf<float> {
  using Type = float;
};
template <> struct SumOf<double> {
  using Type = double;
};
template <> struct SumOf<long long> {
  using Type = unsigned long long;
};

inline float toSum(f16 value) { return toFloat(value); }
inline float toSum(bf16 value) { return toFloat(value); }
template <typename T> typename SumOf<T>::Type toSum(T value) {
  return static_cast<typename SumOf<T>::Type>(value);
}

template <typename T> T multiplyAndAdd(T a, T b, T sum) {
  if constexpr (isSame<T, float> || isSame<T, double>)
    return fma(a, b, sum);
  else
    return a * b + sum;
}

/// Each sum from global memory, in the order of k; neighbouring threads have
/// neighbouring columns.
template <typename P> class AnyMath {
  using T = typename P::Element;
  static constexpr int threads = P::warpsM * P::warpsN * 32;
  static constexpr int share = P::tileM * P::tileN / threads;

public:
  using Sum = typename SumOf<T>::Type;
  static constexpr int slabs = 1, slabRows = P::tileM;
  static constexpr int rowOf(int slab, int row) { return row; }

  /// `row` and `column` are the tile's first of C.
  template <typename Operands>
  void run(const Operands &operands, long long row, long long column) {
    const long long depth = operands.depth();
#pragma unroll 1
    for (int i = 0; i < share; ++i) {
      long long m = row + rowIn(i), n = column + columnIn(i);
      if (m >= P::m || n >= P::n)
        continue;
      Sum sum = 0;
      for (long long k = 0; k < depth; ++k)
        sum = multiplyAndAdd(toSum(operands.elementA(m, k)),
                             toSum(operands.elementB(k, n)), sum);
#pragma unroll
      for (int j = 0; j < share; ++j)
        if (j == i)
          sums[j] = sum;
    }
  }

  void stage(int slab, Sum *staged) const {
#pragma unroll
    for (int i = 0; i < share; ++i)
      staged[rowIn(i) * stagedPitch<P> + columnIn(i)] = sums[i];
  }

private:
  static int rowIn(int i) { return (threadIdx.x + i * threads) / P::tileN; }
  static int columnIn(int i) { return (threadIdx.x + i * threads) % P::tileN; }

  Sum sums[share] = {};
};

} // namespace mp
