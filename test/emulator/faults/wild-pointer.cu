// A pointer that was never set, not seen by Global.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  global(out, 64).store(threadIdx.x, *reinterpret_cast<float *>(threadIdx.x));
}
