// A copy is read after a barrier, but nobody waited for it.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  MP_SHARED_MEMORY(shared);
  auto *row = reinterpret_cast<float *>(shared);
  int thread = threadIdx.x;
  copyAsync<1>(row + thread, global(in, 64), thread, 1);
  commitCopies();
  barrier();
  global(out, 64).store(thread, row[63 - thread]);
}
