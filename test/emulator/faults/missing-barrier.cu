// Each thread reads what its neighbour wrote, with no barrier between.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  MP_SHARED_MEMORY(shared);
  auto *row = reinterpret_cast<float *>(shared);
  int thread = threadIdx.x;
  row[thread] = global(in, 64).load(thread);
  global(out, 64).store(thread, row[63 - thread]);
}
