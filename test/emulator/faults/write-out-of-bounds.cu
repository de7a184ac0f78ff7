#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  global(out, 64).storeVector<4>(threadIdx.x * 4, Vector<float, 4>{});
}
