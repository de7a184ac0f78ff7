// Blocks wait for one another in a launch that need not run them at once.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(unsigned *in, float *out) {
  gridBarrier(in);
  global(out, 64).store(threadIdx.x, 1);
}
