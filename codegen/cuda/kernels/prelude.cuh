//===- prelude.cuh - what generated kernels stand on ----------------------===//
//
// Kernels include this and no header of a toolkit: it costs nothing to compile,
// and everything that is an instruction rather than an expression stands here.
// A twin with the same names, for the host's compiler, runs kernels where there
// is no GPU.
//
// Global memory is reached through Global alone, so that the twin can check
// every access and count the bytes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "clang.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Halves lie in memory as their bits; arithmetic is done in f32.
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

template <typename A, typename B> constexpr bool isSame = false;
template <typename A> constexpr bool isSame<A, A> = true;

/// N elements that are loaded and stored at once: at most 16 bytes.
template <typename T, int N> struct alignas(sizeof(T) * N) Vector {
  T items[N];
};

//===----------------------------------------------------------------------===//
// Bits and rounding
//===----------------------------------------------------------------------===//

inline unsigned bitsOf(float value) { return __float_as_uint(value); }
inline float fromBits(unsigned bits) { return __uint_as_float(bits); }
inline unsigned long long bitsOf(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}
inline double fromBits(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

inline float toFloat(float value) { return value; }
inline float toFloat(f16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
inline float toFloat(bf16 value) {
  return fromBits(static_cast<unsigned>(value.bits) << 16);
}

/// Rounds to nearest, ties to even. A NaN keeps its sign and its upper bits,
/// and is quiet, as LLVM has it; the instructions would give another one.
template <typename T> T roundTo(float value);
template <> inline float roundTo<float>(float value) { return value; }
template <> inline f16 roundTo<f16>(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  unsigned source = bitsOf(value);
  unsigned short quiet =
      ((source >> 16) & 0x8000u) | 0x7e00u | ((source >> 13) & 0x1ffu);
  return {value == value ? bits : quiet};
}
template <> inline bf16 roundTo<bf16>(float value) {
  unsigned bits = bitsOf(value);
  unsigned rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  if (value != value)
    rounded = bits | 0x400000u;
  return {static_cast<unsigned short>(rounded >> 16)};
}

/// Two numbers side by side, `low` in the lower bits. Rounds as `roundTo` does,
/// but any NaN becomes the same one.
template <typename T> unsigned packPair(float low, float high) {
  unsigned bits;
  if constexpr (isSame<T, f16>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

/// What a tensor core reads of an f32: 10 bits of mantissa, to nearest.
inline unsigned toTf32(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

//===----------------------------------------------------------------------===//
// Arithmetic that operators do not say
//===----------------------------------------------------------------------===//

/// a * b + c with one rounding. Operators are never contracted into it
/// (-fmad=false).
inline float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
inline double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
inline float sqrt(float value) { return __fsqrt_rn(value); }
inline double sqrt(double value) { return __dsqrt_rn(value); }

inline double power(double base, double exponent) {
  return pow(base, exponent);
}
inline double exponential(double value) { return exp(value); }
inline double logarithm(double value) { return log(value); }
/// 2^value with a relative error of 2^-22, subnormal or not.
inline float exp2Fast(float value) {
  float result;
  asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
/// The same in one instruction: subnormal results are zeros.
inline float exp2Flushed(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// NaN where an operand is NaN; -0 is below +0 (IEEE 754-2019 maximum,
/// minimum).
inline float maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
inline float minimum(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
inline double maximum(double a, double b) {
  if (a != a || b != b)
    return a != a ? a : b;
  if (a == b)
    return fromBits(bitsOf(a) & bitsOf(b));
  return a > b ? a : b;
}
inline double minimum(double a, double b) {
  if (a != a || b != b)
    return a != a ? a : b;
  if (a == b)
    return fromBits(bitsOf(a) | bitsOf(b));
  return a < b ? a : b;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// What an access of so many bytes is of: only then is it one instruction.
template <int Bytes> struct Word;
template <> struct Word<1> {
  using Type = unsigned char;
};
template <> struct Word<2> {
  using Type = unsigned short;
};
template <> struct Word<4> {
  using Type = unsigned;
};
template <> struct Word<8> {
  using Type = uint2;
};
template <> struct Word<16> {
  using Type = uint4;
};

template <typename W> void storeWord(W *to, W word) { *to = word; }
// The optimizer splits a plain store into narrower ones.
inline void storeWord(uint2 *to, uint2 word) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(word.x),
               "r"(word.y)
               : "memory");
}
inline void storeWord(uint4 *to, uint4 word) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
               : "memory");
}

/// A tensor's elements. Indices count elements; a vector's index is a multiple
/// of its length, and the tensor's base is 16-byte aligned.
template <typename T> struct Global {
  T *data;

  T load(long long index) const { return data[index]; }
  template <int N> Vector<T, N> loadVector(long long index) const {
    using W = typename Word<N * sizeof(T)>::Type;
    union {
      W word;
      Vector<T, N> vector;
    } both;
    both.word = *reinterpret_cast<const W *>(data + index);
    return both.vector;
  }
  /// The same where the vector may reach past the tensor's end: those elements
  /// are anything, as memory is allocated in whole vectors.
  template <int N> Vector<T, N> loadPadded(long long index) const {
    return loadVector<N>(index);
  }
  void store(long long index, T value) const { data[index] = value; }
  template <int N>
  void storeVector(long long index, const Vector<T, N> &value) const {
    using W = typename Word<N * sizeof(T)>::Type;
    union {
      Vector<T, N> vector;
      W word;
    } both = {value};
    storeWord(reinterpret_cast<W *>(data + index), both.word);
  }
};

/// `count` elements from `pointer` on: what a kernel makes of its parameters.
template <typename T> Global<T> global(T *pointer, long long count) {
  return {pointer};
}

//===----------------------------------------------------------------------===//
// Shared memory and copies into it
//===----------------------------------------------------------------------===//

/// The block's shared memory, as many bytes as the launch says.
#define MP_SHARED_MEMORY(name)                                                 \
  extern __shared__ __align__(1024) unsigned char name[]

inline unsigned sharedAddress(const void *shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Starts a copy of N elements, BYTES = N * sizeof(T) one of 4, 8, 16, from
/// `source[index]`; the first `valid` elements are copied, the others become
/// zero (with `valid` 0 nothing is read). It has arrived only after
/// `waitForCopies` and a barrier.
template <int N, typename T>
void copyAsync(void *shared, Global<T> source, long long index, int valid) {
  constexpr int bytes = N * sizeof(T);
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "size of a copy");
  const T *from = source.data + index; // not read where nothing is valid
  int size = valid * static_cast<int>(sizeof(T));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     sharedAddress(shared)),
                 "l"(from), "r"(size)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                     sharedAddress(shared)),
                 "l"(from), "n"(bytes), "r"(size)
                 : "memory");
}
/// Ends a group of this thread's copies.
inline void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most LEFT of this thread's last groups are on their way.
template <int LEFT> void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

inline void barrier() { __syncthreads(); }
/// Waits until all blocks of a launch are here, which must run at once; then
/// all see what each has written. `arrived` is the launch's own, 0 at first.
inline void gridBarrier(unsigned *arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    // All blocks together turn the highest bit, and no other.
    const unsigned own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    unsigned before, now;
    asm volatile("fence.acq_rel.gpu;\n\tatom.add.relaxed.gpu.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(arrived), "r"(own)
                 : "memory");
    do
      asm volatile("ld.acquire.gpu.u32 %0, [%1];"
                   : "=r"(now)
                   : "l"(arrived)
                   : "memory");
    while (((before ^ now) & 0x80000000u) == 0);
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
  __syncthreads();
}
inline void warpBarrier() { __syncwarp(); }

/// The value of the thread whose lane differs in the bits of `mask`. All 32
/// lanes take part in these.
inline float shuffleXor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
inline int shuffleXor(int value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
inline long long shuffleXor(long long value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
inline double shuffleXor(double value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
inline bool anyOfWarp(bool value) { return __any_sync(0xffffffffu, value); }

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// Four 8x8 matrices of 16-bit elements: lane i gives the address of row i % 8
/// of matrix i / 8 (16 bytes, aligned) and gets of each matrix the elements
/// (lane / 4, 2 * (lane % 4) and the next).
inline void loadMatrices(unsigned (&result)[4], const void *shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]),
                 "=r"(result[3])
               : "r"(sharedAddress(shared))
               : "memory");
}
/// The same, each matrix transposed.
inline void loadMatricesTransposed(unsigned (&result)[4], const void *shared) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
      : "r"(sharedAddress(shared))
      : "memory");
}

/// c += a b of a warp: a 16x16 and b 16x8 of T, c 16x8 of f32, in the fragments
/// of mma.m16n8k16. T is f16 or bf16.
template <typename T>
void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  static_assert(isSame<T, f16> || isSame<T, bf16>, "type of the operands");
  if constexpr (isSame<T, f16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
        "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// c += a b of a warp: a 16x8 and b 8x8 of tf32 (see toTf32), c 16x8 of f32, in
/// the fragments of mma.m16n8k8.
inline void multiplyTf32(float (&c)[4], const unsigned (&a)[4],
                         const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//===----------------------------------------------------------------------===//
// Tensor cores of Hopper, by four warps together
//===----------------------------------------------------------------------===//

/// A matrix of 16-bit elements in shared memory, as a warpgroup finds it: in
/// panels of 128-byte rows, in which a chunk of 16 bytes is at its number xor
/// that of its row (of eight). `panel` bytes lie from one panel to the next,
/// `eight` from eight rows to the next; each begins at a multiple of 1024 (PTX
/// ISA, matrix descriptor, 128-byte swizzling).
struct SharedMatrix {
  SharedMatrix(const void *corner, unsigned panel, unsigned eight)
      : bits(sharedAddress(corner) / 16 |
             static_cast<unsigned long long>(panel / 16) << 16 |
             static_cast<unsigned long long>(eight / 16) << 32 | 1ull << 62) {}
  /// The one that begins so many bytes further on.
  SharedMatrix further(unsigned bytes) const {
    SharedMatrix other = *this;
    other.bits += bytes / 16;
    return other;
  }
  unsigned long long bits;
};

/// Lets instructions of warpgroups see what this thread has written or copied
/// to shared memory, after the next barrier.
inline void publishShared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Precedes the first `multiplyMatrices` on sums that something else wrote.
inline void beginGroups() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Ends a group of products that go on while the threads do.
inline void commitGroup() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most LEFT of the last groups go on.
template <int LEFT> void waitForGroups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

#define MP_SUMS(HOW, I)                                                        \
  HOW "f"(c[I][0]), HOW "f"(c[I][1]), HOW "f"(c[I][2]), HOW "f"(c[I][3])
#define MP_EIGHT_SUMS(HOW, I)                                                  \
  MP_SUMS(HOW, I), MP_SUMS(HOW, I + 1), MP_SUMS(HOW, I + 2),                   \
      MP_SUMS(HOW, I + 3), MP_SUMS(HOW, I + 4), MP_SUMS(HOW, I + 5),           \
      MP_SUMS(HOW, I + 6), MP_SUMS(HOW, I + 7)
#define MP_32_NAMES                                                            \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20," \
  "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define MP_64_NAMES                                                            \
  MP_32_NAMES                                                                  \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,"  \
  "%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define MP_MULTIPLY_64(HOW, TYPE, OPERANDS, ...)                               \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." TYPE "." TYPE     \
               " {" MP_32_NAMES "}, " OPERANDS                                 \
               : MP_EIGHT_SUMS(HOW, 0)                                         \
               : __VA_ARGS__)
#define MP_MULTIPLY_128(HOW, TYPE, OPERANDS, ...)                              \
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE    \
               " {" MP_64_NAMES "}, " OPERANDS                                 \
               : MP_EIGHT_SUMS(HOW, 0), MP_EIGHT_SUMS(HOW, 8)                  \
               : __VA_ARGS__)
#define MP_MULTIPLY_TYPE(HOW, TYPE, OPERANDS_64, OPERANDS_128, ...)            \
  if constexpr (N == 64)                                                       \
    MP_MULTIPLY_64(HOW, TYPE, OPERANDS_64, __VA_ARGS__);                       \
  else                                                                         \
    MP_MULTIPLY_128(HOW, TYPE, OPERANDS_128, __VA_ARGS__)
// What c was is no operand of a product that does not add to it.
#define MP_MULTIPLY(...)                                                       \
  static_assert(isSame<T, f16> || isSame<T, bf16>, "type of the operands");    \
  static_assert(N == 64 || N == 128, "columns of an instruction");             \
  if constexpr (isSame<T, f16> && Adds)                                        \
    MP_MULTIPLY_TYPE("+", "f16", __VA_ARGS__);                                 \
  else if constexpr (isSame<T, f16>)                                           \
    MP_MULTIPLY_TYPE("=", "f16", __VA_ARGS__);                                 \
  else if constexpr (Adds)                                                     \
    MP_MULTIPLY_TYPE("+", "bf16", __VA_ARGS__);                                \
  else                                                                         \
    MP_MULTIPLY_TYPE("=", "bf16", __VA_ARGS__)

/// c += a b of a warpgroup: a 64x16 and b 16xN of T, N 64 or 128, with
/// neighbours in k in a row of shared memory, or `Transposed`: in a column. A
/// warp has 16 rows of c, in the fragments of mma.m16n8k16. Where not `Adds`,
/// c = a b.
template <typename T, int N, bool TransposedA, bool TransposedB,
          bool Adds = true>
void multiplyMatrices(float (&c)[N / 8][4], SharedMatrix a, SharedMatrix b) {
  MP_MULTIPLY("%32, %33, %34, 1, 1, %35, %36;",
              "%64, %65, %66, 1, 1, %67, %68;", "l"(a.bits), "l"(b.bits),
              "n"(Adds), "n"(TransposedA), "n"(TransposedB));
}
/// The same, with a in registers: each warp has its 16 rows, in the fragment of
/// mma.m16n8k16. They must not change until the product is waited for.
template <typename T, int N, bool TransposedB, bool Adds = true>
void multiplyMatrices(float (&c)[N / 8][4], const unsigned (&a)[4],
                      SharedMatrix b) {
  MP_MULTIPLY("{%32, %33, %34, %35}, %36, %37, 1, 1, %38;",
              "{%64, %65, %66, %67}, %68, %69, 1, 1, %70;", "r"(a[0]),
              "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "n"(Adds),
              "n"(TransposedB));
}
#undef MP_SUMS
#undef MP_EIGHT_SUMS
#undef MP_32_NAMES
#undef MP_64_NAMES
#undef MP_MULTIPLY_64
#undef MP_MULTIPLY_128
#undef MP_MULTIPLY_TYPE
#undef MP_MULTIPLY

} // namespace mp
