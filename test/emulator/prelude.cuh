//===- prelude.cuh - the prelude's twin for the host's compiler -----------===//
//
// The names and the meaning are those of codegen/cuda/kernels/prelude.cuh;
// instructions are replaced by exact arithmetic and by calls of the emulator.
// No header of a library is included, so that a kernel that reaches past the
// prelude does not compile here.
//
// Functions that the sanitizer's hooks must not see are marked MP_UNSEEN: what
// they touch is the emulator's own, or global memory, which is checked here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Interface.h"

// What NVRTC declares of itself; host headers would bring more than kernels
// see.
#define MP_LIBM(NAME) double NAME(double) noexcept(true)
extern "C" {
MP_LIBM(acos);
MP_LIBM(acosh);
MP_LIBM(asin);
MP_LIBM(asinh);
MP_LIBM(atan);
MP_LIBM(atanh);
MP_LIBM(cbrt);
MP_LIBM(cos);
MP_LIBM(cosh);
MP_LIBM(erf);
MP_LIBM(erfc);
MP_LIBM(exp);
MP_LIBM(exp2);
MP_LIBM(expm1);
MP_LIBM(log);
MP_LIBM(log10);
MP_LIBM(log1p);
MP_LIBM(log2);
MP_LIBM(sin);
MP_LIBM(sinh);
MP_LIBM(tan);
MP_LIBM(tanh);
double pow(double, double) noexcept(true);
double atan2(double, double) noexcept(true);
}
#undef MP_LIBM

extern "C" {
/// Set by the driver when it loads the object.
__attribute__((visibility("default"))) mp::emulator::Context *mpEmulator;
__attribute__((visibility("default"))) extern const int mpEmulatorArch =
    __CUDA_ARCH__ / 10;
}

#define MP_UNSEEN __attribute__((noinline, no_sanitize("thread")))
#define MP_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

//===----------------------------------------------------------------------===//
// CUDA's own names
//===----------------------------------------------------------------------===//

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (mp::emulator::thread())
#define blockIdx (mp::emulator::block())
#define blockDim (mp::emulator::blockSize())
#define gridDim (mp::emulator::gridSize())

namespace mp::emulator {

// These never change while a thread runs, whatever runs in between.
MP_UNSEEN __attribute__((const)) inline Dim3 thread() {
  return mpEmulator->thread;
}
MP_UNSEEN __attribute__((const)) inline Dim3 block() {
  return mpEmulator->block;
}
MP_UNSEEN __attribute__((const)) inline Dim3 blockSize() {
  return mpEmulator->blockSize;
}
MP_UNSEEN __attribute__((const)) inline Dim3 gridSize() {
  return mpEmulator->gridSize;
}
MP_UNSEEN __attribute__((const)) inline unsigned char *sharedMemory() {
  return mpEmulator->shared;
}

MP_UNSEEN inline void warp(WarpAction action, Site site, void *value = nullptr,
                           const void *first = nullptr,
                           const void *second = nullptr, int size = 0,
                           int mask = 0) {
  WarpCall call{action, site, value, first, second, size, mask};
  mpEmulator->warp(&call);
}

// How the driver calls a kernel with an array of pointers to its parameters.
template <int...> struct Indices {};
template <int N, int... Is>
struct MakeIndices : MakeIndices<N - 1, N - 1, Is...> {};
template <int... Is> struct MakeIndices<0, Is...> {
  using Type = Indices<Is...>;
};
template <auto Function> struct Caller;
template <typename... Ps, void (*Function)(Ps...)> struct Caller<Function> {
  static constexpr unsigned sizes[] = {sizeof(Ps)..., 0};
  static constexpr int count = sizeof...(Ps);
  template <int... Is>
  MP_UNSEEN static void call(void *const *parameters, Indices<Is...>) {
    Function(*static_cast<Ps *>(parameters[Is])...);
  }
  static void call(void *const *parameters) {
    call(parameters, typename MakeIndices<count>::Type());
  }
};
template <auto Function> constexpr KernelEntry entry(const char *name) {
  using Call = Caller<Function>;
  return {name, Call::call, Call::count, Call::sizes};
}

} // namespace mp::emulator

#ifdef MP_EMULATOR_RACES
#include "Hooks.h"
#endif

namespace mp {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

template <typename A, typename B> constexpr bool isSame = false;
template <typename A> constexpr bool isSame<A, A> = true;

template <typename T, int N> struct alignas(sizeof(T) * N) Vector {
  T items[N];
};

//===----------------------------------------------------------------------===//
// Bits and rounding
//===----------------------------------------------------------------------===//

inline unsigned bitsOf(float value) {
  return __builtin_bit_cast(unsigned, value);
}
inline float fromBits(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline unsigned long long bitsOf(double value) {
  return __builtin_bit_cast(unsigned long long, value);
}
inline double fromBits(unsigned long long bits) {
  return __builtin_bit_cast(double, bits);
}

inline float toFloat(float value) { return value; }
inline float toFloat(f16 value) {
  unsigned sign = (value.bits & 0x8000u) << 16;
  unsigned magnitude = (value.bits & 0x7fffu) << 13;
  // Moved down by 112 in the exponent, subnormals too: exact when moved back.
  if (magnitude < 0x7c00u << 13)
    return fromBits(bitsOf(fromBits(magnitude) * fromBits(0x77800000u)) | sign);
  unsigned quiet = magnitude > 0x7c00u << 13 ? 0x400000u : 0;
  return fromBits(sign | 0x7f800000u | (magnitude & 0x7fe000u) | quiet);
}
inline float toFloat(bf16 value) {
  return fromBits(static_cast<unsigned>(value.bits) << 16);
}

template <typename T> T roundTo(float value);
template <> inline float roundTo<float>(float value) { return value; }
template <> inline f16 roundTo<f16>(float value) {
  unsigned source = bitsOf(value), sign = (source >> 16) & 0x8000u;
  unsigned magnitude = source & 0x7fffffffu, bits;
  if (magnitude > 0x7f800000u) { // NaN
    bits = 0x7e00u | ((source >> 13) & 0x1ffu);
  } else if (magnitude >= 0x477ff000u) { // 65520 rounds to infinity
    bits = 0x7c00u;
  } else if (magnitude <
             0x38800000u) { // below 2^-14: adding 0.5 rounds at 2^-24
    bits = bitsOf(fromBits(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    bits = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return {static_cast<unsigned short>(sign | bits)};
}
template <> inline bf16 roundTo<bf16>(float value) {
  unsigned bits = bitsOf(value);
  unsigned rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  if (value != value)
    rounded = bits | 0x400000u;
  return {static_cast<unsigned short>(rounded >> 16)};
}

template <typename T> unsigned packPair(float low, float high) {
  return roundTo<T>(low).bits | static_cast<unsigned>(roundTo<T>(high).bits)
                                    << 16;
}

inline unsigned toTf32(float value) {
  unsigned bits = bitsOf(value);
  if ((bits & 0x7f800000u) == 0x7f800000u)
    return (bits & 0x7fffffffu) == 0x7f800000u ? bits : 0x7fffffffu;
  // Half a unit is added to the magnitude: ties go away from zero.
  return (bits + 0x1000u) & ~0x1fffu;
}

//===----------------------------------------------------------------------===//
// Arithmetic that operators do not say
//===----------------------------------------------------------------------===//

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline float sqrt(float value) { return __builtin_sqrtf(value); }
inline double sqrt(double value) { return __builtin_sqrt(value); }

inline double power(double base, double exponent) {
  return __builtin_pow(base, exponent);
}
inline double exponential(double value) { return exp(value); }
inline double logarithm(double value) { return log(value); }
inline float exp2Fast(float value) { return static_cast<float>(exp2(value)); }
inline float exp2Flushed(float value) {
  float result = exp2Fast(value);
  return result < 0x1p-126f ? 0.0f : result;
}

inline float maximum(float a, float b) {
  if (a != a || b != b)
    return fromBits(0x7fffffffu);
  if (a == b)
    return fromBits(bitsOf(a) & bitsOf(b));
  return a > b ? a : b;
}
inline float minimum(float a, float b) {
  if (a != a || b != b)
    return fromBits(0x7fffffffu);
  if (a == b)
    return fromBits(bitsOf(a) | bitsOf(b));
  return a < b ? a : b;
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

template <typename T> struct Global {
  T *data;
  long long count;

  MP_UNSEEN T load(long long index) const {
    check(index, 1, false);
    mpEmulator->bytesRead += sizeof(T);
    return data[index];
  }
  template <int N> MP_UNSEEN Vector<T, N> loadVector(long long index) const {
    static_assert(sizeof(Vector<T, N>) <= 16, "size of a vector");
    check(index, N, false);
    mpEmulator->bytesRead += sizeof(Vector<T, N>);
    return *reinterpret_cast<const Vector<T, N> *>(data + index);
  }
  template <int N> MP_UNSEEN Vector<T, N> loadPadded(long long index) const {
    if (index + N <= count)
      return loadVector<N>(index);
    Vector<T, N> vector;
    for (int i = 0; i < N; ++i)
      vector.items[i] = index + i < count ? load(index + i) : T{0x7fff};
    return vector;
  }
  MP_UNSEEN void store(long long index, T value) const {
    check(index, 1, true);
    mpEmulator->bytesWritten += sizeof(T);
    data[index] = value;
  }
  template <int N>
  MP_UNSEEN void storeVector(long long index, const Vector<T, N> &value) const {
    static_assert(sizeof(Vector<T, N>) <= 16, "size of a vector");
    check(index, N, true);
    mpEmulator->bytesWritten += sizeof(Vector<T, N>);
    *reinterpret_cast<Vector<T, N> *>(data + index) = value;
  }

  /// [index, index + elements) is in the tensor, and its address a multiple of
  /// its size.
  __attribute__((always_inline)) void check(long long index, int elements,
                                            bool write) const {
    if (index < 0 || index + elements > count)
      mpEmulator->globalFault(data, index, elements, count, write);
    if (reinterpret_cast<unsigned long long>(data + index) %
        (sizeof(T) * elements))
      mpEmulator->globalFault(data, index, elements, -1, write);
  }
};

template <typename T> MP_UNSEEN Global<T> global(T *pointer, long long count) {
  mpEmulator->checkTensor(pointer, count * static_cast<long long>(sizeof(T)));
  return {pointer, count};
}

//===----------------------------------------------------------------------===//
// Shared memory and copies into it
//===----------------------------------------------------------------------===//

#define MP_SHARED_MEMORY(name)                                                 \
  unsigned char *const name = mp::emulator::sharedMemory()

inline unsigned sharedAddress(const void *shared) {
  return static_cast<unsigned>(static_cast<const unsigned char *>(shared) -
                               emulator::sharedMemory());
}

template <int N, typename T>
MP_UNSEEN void copyAsync(void *shared, Global<T> source, long long index,
                         int valid) {
  constexpr int bytes = N * sizeof(T);
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "size of a copy");
  if (valid) {
    if (valid < 0 || valid > N || index < 0 || index + valid > source.count)
      mpEmulator->globalFault(source.data, index, valid, source.count, false);
    if (reinterpret_cast<unsigned long long>(source.data + index) % bytes)
      mpEmulator->globalFault(source.data, index, valid, -1, false);
  }
  int size = valid * static_cast<int>(sizeof(T));
  mpEmulator->bytesRead += size;
  mpEmulator->copyAsync(shared, source.data + (valid ? index : 0), bytes, size);
}
MP_UNSEEN inline void commitCopies() { mpEmulator->commitCopies(); }
template <int LEFT> MP_UNSEEN void waitForCopies() {
  mpEmulator->waitForCopies(LEFT);
}

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

MP_UNSEEN inline void barrier(MP_SITE) { mpEmulator->barrier({file, line}); }
MP_UNSEEN inline void gridBarrier(unsigned *arrived, MP_SITE) {
  mpEmulator->gridBarrier(arrived, {file, line});
}
inline void warpBarrier(MP_SITE) {
  emulator::warp(emulator::WarpAction::Barrier, {file, line});
}

namespace emulator {
template <typename T> T shuffle(T value, int mask, Site site) {
  warp(WarpAction::Shuffle, site, &value, nullptr, nullptr, sizeof(T), mask);
  return value;
}
} // namespace emulator
inline float shuffleXor(float value, int mask, MP_SITE) {
  return emulator::shuffle(value, mask, {file, line});
}
inline int shuffleXor(int value, int mask, MP_SITE) {
  return emulator::shuffle(value, mask, {file, line});
}
inline long long shuffleXor(long long value, int mask, MP_SITE) {
  return emulator::shuffle(value, mask, {file, line});
}
inline double shuffleXor(double value, int mask, MP_SITE) {
  return emulator::shuffle(value, mask, {file, line});
}
inline bool anyOfWarp(bool value, MP_SITE) {
  emulator::warp(emulator::WarpAction::Any, {file, line}, &value);
  return value;
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

inline void loadMatrices(unsigned (&result)[4], const void *shared, MP_SITE) {
  emulator::warp(emulator::WarpAction::Load, {file, line}, result, shared);
}
inline void loadMatricesTransposed(unsigned (&result)[4], const void *shared,
                                   MP_SITE) {
  emulator::warp(emulator::WarpAction::Transpose, {file, line}, result, shared);
}

template <typename T>
void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2],
              MP_SITE) {
  static_assert(isSame<T, f16> || isSame<T, bf16>, "type of the operands");
  emulator::warp(isSame<T, f16> ? emulator::WarpAction::MultiplyF16
                                : emulator::WarpAction::MultiplyBf16,
                 {file, line}, c, a, b);
}
inline void multiplyTf32(float (&c)[4], const unsigned (&a)[4],
                         const unsigned (&b)[2], MP_SITE) {
  emulator::warp(emulator::WarpAction::MultiplyTf32, {file, line}, c, a, b);
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

inline void publishShared() {}
inline void beginGroups() {}
inline void commitGroup() {}
template <int LEFT> void waitForGroups() {}

namespace emulator {
/// What the descriptor of a matrix says. `at` returns where the element
/// `across` rows or columns from the first, and `k` further, lies.
class SharedPlaces {
public:
  explicit SharedPlaces(SharedMatrix matrix)
      : corner((matrix.bits & 0x3fff) * 16),
        panel((matrix.bits >> 16 & 0x3fff) * 16),
        eight((matrix.bits >> 32 & 0x3fff) * 16) {}
  const void *at(int across, int k, bool transposed) const {
    int row = transposed ? k : across, column = transposed ? across : k;
    unsigned place = corner + row / 8 * eight + row % 8 * 128 +
                     column / 64 * panel + column % 64 * 2;
    return sharedMemory() + (place ^ (place >> 7 & 7) << 4);
  }

private:
  unsigned corner, panel, eight;
};
} // namespace emulator

// The work of each warp, by the instructions of one; nothing goes on meanwhile.
template <typename T, int N, bool TransposedB, bool Adds = true>
void multiplyMatrices(float (&c)[N / 8][4], const unsigned (&a)[4],
                      SharedMatrix b) {
  static_assert(N == 64 || N == 128, "columns of an instruction");
  const emulator::SharedPlaces places(b);
  const int near = threadIdx.x % 16, far = threadIdx.x % 32 / 16 * 8;
  for (int j = 0; j < N / 8; j += 2) {
    unsigned both[4];
    if constexpr (TransposedB)
      loadMatricesTransposed(both, places.at(j * 8 + far, near, true));
    else
      loadMatrices(both,
                   places.at(j * 8 + far + near % 8, near / 8 * 8, false));
    for (int i = 0; i < 2; ++i) {
      if constexpr (!Adds)
        for (float &sum : c[j + i])
          sum = 0;
      multiply<T>(c[j + i], a, {both[i * 2], both[i * 2 + 1]});
    }
  }
}
template <typename T, int N, bool TransposedA, bool TransposedB,
          bool Adds = true>
void multiplyMatrices(float (&c)[N / 8][4], SharedMatrix a, SharedMatrix b) {
  const emulator::SharedPlaces places(a);
  const int near = threadIdx.x % 16, far = threadIdx.x % 32 / 16 * 8;
  const int rows = threadIdx.x / 32 % 4 * 16;
  unsigned left[4];
  if constexpr (TransposedA)
    loadMatricesTransposed(
        left, places.at(rows + near / 8 * 8, far + near % 8, true));
  else
    loadMatrices(left, places.at(rows + near, far, false));
  multiplyMatrices<T, N, TransposedB, Adds>(c, left, b);
}

} // namespace mp
