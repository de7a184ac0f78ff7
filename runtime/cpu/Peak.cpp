//===- Peak.cpp - the fastest arithmetic of this machine's cores ----------===//
#include "runtime/cpu/Peak.h"
#include "runtime/cpu/Jit.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstring>
#include <numeric>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace mp;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A loop of independent chains, enough of them to fill every pipeline.
/// `rounds` iterations, at least 1, do `rounds * flops` operations.
struct Loop {
  llvm::StringRef instructions;
  void (*run)(int64_t rounds) = nullptr;
  double flops = 0;
};

#if defined(__x86_64__)
// The loop is written in assembler, because the compiler rotates the sums
// through the registers, which takes as long as the arithmetic.
constexpr int kChains = 12;
/// Adds the square of `x` to sums that begin at 0.
#define MP_LOOP(op, reg, x)                                                    \
  asm volatile("vzeroall\n"                                                    \
               "vbroadcastss %1, %%" reg "15\n"                                \
               "1:\n"                                                          \
               ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11\n" op " %%" reg "15, %%" reg \
               "15, %%" reg "\\n\n"                                            \
               ".endr\n"                                                       \
               "dec %0\n"                                                      \
               "jnz 1b\n"                                                      \
               : "+r"(rounds)                                                  \
               : "m"(x)                                                        \
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", \
                 "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm15")

constexpr uint32_t kHalf = 0x3f000000,
                   kHalves = 0x3f003f00; // bf16: a pair

__attribute__((target("avx512f"))) void fma512(int64_t rounds) {
  MP_LOOP("vfmadd231ps", "zmm", kHalf);
}
__attribute__((target("avx512f,avx512bf16"))) void dot512(int64_t rounds) {
  MP_LOOP("vdpbf16ps", "zmm", kHalves);
}
__attribute__((target("avx2,fma"))) void fma256(int64_t rounds) {
  MP_LOOP("vfmadd231ps", "ymm", kHalf);
}
#undef MP_LOOP

#if defined(__linux__)
/// Whether the system lets this process use tiles. The request grants them.
bool mayUseTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

/// Four tiles of 16x16 sums; each step adds 32 products of zeros to each sum.
__attribute__((target("amx-tile,amx-bf16"))) void tiles(int64_t rounds) {
  struct alignas(64) {
    uint8_t palette = 1, startRow = 0, reserved[14] = {};
    uint16_t bytesInRow[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  asm volatile("ldtilecfg %1\n"
               ".irp n, 0,1,2,3,4,5,6,7\n"
               "tilezero %%tmm\\n\n"
               ".endr\n"
               "1:\n"
               "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n"
               "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n"
               "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n"
               "tdpbf16ps %%tmm7, %%tmm5, %%tmm3\n"
               "dec %0\n"
               "jnz 1b\n"
               "tilerelease\n"
               : "+r"(rounds)
               : "m"(config)
               : "cc");
}
constexpr double kFlopsOfTiles = 4.0 * 16 * 16 * 32 * 2;
#endif
#endif

std::vector<Loop> loopsFor(ElementType type) {
  std::vector<Loop> loops;
#if defined(__x86_64__)
  auto has = [](llvm::StringRef feature) {
    return llvm::is_contained(hostFeatures(), feature);
  };
#if defined(__linux__)
  if (type == ElementType::BF16 && has("amx-bf16") && mayUseTiles())
    loops.push_back({"tiles", tiles, kFlopsOfTiles});
#endif
  if (type == ElementType::BF16 && has("avx512bf16"))
    loops.push_back({"dot products", dot512, kChains * 64.0});
  if (has("avx512f"))
    loops.push_back({"multiply-adds", fma512, kChains * 32.0});
  else if (has("avx2") && has("fma"))
    loops.push_back({"multiply-adds", fma256, kChains * 16.0});
#endif
  return loops;
}

/// Each worker has its own clock, and its best of many short runs counts, as
/// other processes disturb only some of them.
double measure(ThreadPool &pool, const Loop &loop) {
  constexpr int64_t rounds = 10000;
  constexpr double wanted = 0.02;
  constexpr int least = 20;
  std::vector<double> rates(pool.threads());
  Clock::time_point start = Clock::now();
  for (int run = 0; run < least || secondsSince(start) < wanted; ++run)
    pool.runOnEach([&](unsigned worker) {
      Clock::time_point begin = Clock::now();
      loop.run(rounds);
      double rate = rounds * loop.flops / secondsSince(begin) / 1e9;
      rates[worker] = std::max(rates[worker], rate);
    });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

} // namespace

double mp::measurePeak(ThreadPool &pool, ElementType type) {
  double best = 0;
  for (const Peak &peak : measureEachPeak(pool, type))
    best = std::max(best, peak.rate);
  return best;
}

std::vector<Peak> mp::measureEachPeak(ThreadPool &pool, ElementType type) {
  std::vector<Peak> peaks;
  for (const Loop &loop : loopsFor(type))
    peaks.push_back({loop.instructions, measure(pool, loop)});
  return peaks;
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
