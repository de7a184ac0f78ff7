// Two barriers in two branches.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  if (threadIdx.x < 32) {
    barrier();
    global(out, 64).store(threadIdx.x, 1);
  } else {
    barrier();
  }
}
