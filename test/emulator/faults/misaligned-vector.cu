#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  auto value = global(in, 64).loadVector<4>(threadIdx.x % 8 + 2);
  global(out, 64).store(threadIdx.x, value.items[0]);
}
