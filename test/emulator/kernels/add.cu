// out[i] = in[i] + 1.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  global(out, 64).store(at, global(in, 64).load(at) + 1);
}
