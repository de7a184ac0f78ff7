// Each thread waits for its own copies, and then reads its neighbour's.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  MP_SHARED_MEMORY(shared);
  auto *row = reinterpret_cast<float *>(shared);
  int thread = threadIdx.x;
  copyAsync<1>(row + thread, global(in, 64), thread, 1);
  commitCopies();
  waitForCopies<0>();
  global(out, 64).store(thread, row[63 - thread]);
}
