// The sum of 4096 numbers by one block: shuffles within a warp, shared memory
// between warps.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, float *out) {
  MP_SHARED_MEMORY(shared);
  auto *sums = reinterpret_cast<float *>(shared);
  auto values = global(in, 4096);
  int thread = threadIdx.x;
  float sum = 0;
  for (int at = thread * 4; at < 4096; at += blockDim.x * 4) {
    auto items = values.loadVector<4>(at);
    for (float item : items.items)
      sum += item;
  }
  for (int mask = 16; mask; mask /= 2)
    sum += shuffleXor(sum, mask);
  if (thread % 32 == 0)
    sums[thread / 32] = sum;
  barrier();
  if (thread == 0) {
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp)
      sum += sums[warp];
    global(out, 1).store(0, sum);
  }
}
