// Every kind of exchange in a warp, each thread's result as a long long.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(long long *out) {
  auto result = global(out, 4 * 64);
  int thread = threadIdx.x;
  result.store(thread, shuffleXor(thread, 5));
  result.store(64 + thread, shuffleXor((1ll << 40) + thread, 16));
  result.store(128 + thread,
               static_cast<long long>(shuffleXor(thread + 0.5, 31) * 2));
  bool any = anyOfWarp(thread == 40);
  warpBarrier();
  result.store(192 + thread, any);
}
