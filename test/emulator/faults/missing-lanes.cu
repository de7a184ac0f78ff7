// Half a warp shuffles.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  float value = global(in, 64).load(threadIdx.x);
  if (threadIdx.x % 32 < 16)
    value += shuffleXor(value, 1);
  global(out, 64).store(threadIdx.x, value);
}
