#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  float value = global(in, 64).load(threadIdx.x + 1);
  global(out, 64).store(threadIdx.x, value);
}
