//===- Peak.cpp - the fastest arithmetic of this machine's cores ----------===//
#include "runtime/Peak.h"
#include "runtime/Jit.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstring>
#include <numeric>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mp;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A loop of independent chains, enough of them to fill every pipeline.
/// `rounds` of it do `rounds * flops` operations; the sum keeps them alive.
struct Loop {
  float (*run)(int64_t rounds) = nullptr;
  double flops = 0;
};

#if defined(__x86_64__)
constexpr int chains = 20;

__attribute__((target("avx512f"))) float fma512(int64_t rounds) {
  __m512 sums[chains], a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1.0f);
  for (__m512 &sum : sums)
    sum = a;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, a, b);
    asm volatile("" ::: "memory");
  }
  __m512 total = a;
  for (__m512 &sum : sums)
    total = _mm512_add_ps(total, sum);
  return _mm512_cvtss_f32(total);
}

__attribute__((target("avx512f,avx512bf16"))) float dot512(int64_t rounds) {
  __m512 sums[chains];
  __m512bh a = (__m512bh)_mm512_set1_epi16(0x3f00);
  for (__m512 &sum : sums)
    sum = _mm512_set1_ps(1.0f);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (__m512 &sum : sums)
      sum = _mm512_dpbf16_ps(sum, a, a);
    asm volatile("" ::: "memory");
  }
  __m512 total = _mm512_setzero_ps();
  for (__m512 &sum : sums)
    total = _mm512_add_ps(total, sum);
  return _mm512_cvtss_f32(total);
}

/// Sixteen registers there are, so ten chains and the two factors.
__attribute__((target("avx2,fma"))) float fma256(int64_t rounds) {
  __m256 sums[chains / 2], a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(1.0f);
  for (__m256 &sum : sums)
    sum = a;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, a, b);
    asm volatile("" ::: "memory");
  }
  __m256 total = a;
  for (__m256 &sum : sums)
    total = _mm256_add_ps(total, sum);
  return _mm256_cvtss_f32(total);
}
#endif

std::vector<Loop> loopsFor(ElementType type) {
  std::vector<Loop> loops;
#if defined(__x86_64__)
  auto has = [](llvm::StringRef feature) {
    return llvm::is_contained(hostFeatures(), feature);
  };
  if (type == ElementType::BF16 && has("avx512bf16"))
    loops.push_back({dot512, chains * 64.0});
  if (has("avx512f"))
    loops.push_back({fma512, chains * 32.0});
  else if (has("avx2") && has("fma"))
    loops.push_back({fma256, chains / 2 * 16.0});
#endif
  return loops;
}

/// Each worker has its own clock, and the best of many short runs counts:
/// whoever else wants the cores, some are undisturbed.
double measure(ThreadPool &pool, const Loop &loop) {
  constexpr int64_t rounds = 10000;
  constexpr double wanted = 0.02;
  constexpr int least = 20;
  std::vector<double> rates(pool.threads());
  Clock::time_point start = Clock::now();
  for (int run = 0; run < least || secondsSince(start) < wanted; ++run)
    pool.runOnEach([&](unsigned worker) {
      Clock::time_point begin = Clock::now();
      float sum = loop.run(rounds);
      double rate = rounds * loop.flops / secondsSince(begin) / 1e9;
      // The sum is positive, which only one can say who computed it.
      if (sum > 0)
        rates[worker] = std::max(rates[worker], rate);
    });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

} // namespace

double mp::measurePeak(ThreadPool &pool, ElementType type) {
  double best = 0;
  for (const Loop &loop : loopsFor(type))
    best = std::max(best, measure(pool, loop));
  return best;
}

double mp::measureCopy(ThreadPool &pool, char *to, const char *from,
                       uint64_t bytes) {
  uint64_t share = bytes / pool.threads();
  Clock::time_point begin = Clock::now();
  pool.run(pool.threads(), [&](int64_t part, unsigned) {
    std::memcpy(to + part * share, from + part * share, share);
  });
  return 2.0 * share * pool.threads() / secondsSince(begin) / 1e9;
}
