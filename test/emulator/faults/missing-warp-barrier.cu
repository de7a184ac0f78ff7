// As missing-barrier, inside one warp: a shuffle orders no memory.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  MP_SHARED_MEMORY(shared);
  auto *row = reinterpret_cast<float *>(shared);
  int thread = threadIdx.x;
  row[thread] = shuffleXor(global(in, 64).load(thread), 1);
  shuffleXor(1, 1);
  global(out, 64).store(thread, row[thread ^ 1]);
}
