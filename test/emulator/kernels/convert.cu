// Conversions of `count` floats, and of as many halves.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *in, f16 *half, bf16 *bfloat, unsigned *tf32,
                             f16 *halves, float *fromHalf, long long count) {
  long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  float value = global(in, count).load(at);
  global(half, count).store(at, roundTo<f16>(value));
  global(bfloat, count).store(at, roundTo<bf16>(value));
  global(tf32, count).store(at, toTf32(value));
  global(fromHalf, count).store(at, toFloat(global(halves, count).load(at)));
}
