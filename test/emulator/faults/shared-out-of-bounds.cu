// The launch gives 256 bytes.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  MP_SHARED_MEMORY(shared);
  reinterpret_cast<float *>(shared)[threadIdx.x + 1] = 1;
  global(out, 64).store(threadIdx.x, 1);
}
