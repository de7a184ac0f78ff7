// The tensor has fewer elements than the kernel was made for.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  global(out, 64).store(threadIdx.x, global(in, 65).load(threadIdx.x));
}
