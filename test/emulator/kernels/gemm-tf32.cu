// out (16x8) = a (16x8) b (8x8), one multiplication of the tensor core.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *a, float *b, float *out) {
  int lane = threadIdx.x, group = lane / 4, place = lane % 4;
  auto left = global(a, 128), right = global(b, 64), result = global(out, 128);
  unsigned x[4], y[2];
  for (int i = 0; i < 4; ++i)
    x[i] = toTf32(left.load((group + i % 2 * 8) * 8 + place + i / 2 * 4));
  for (int i = 0; i < 2; ++i)
    y[i] = toTf32(right.load((place + i * 4) * 8 + group));
  float c[4] = {};
  multiplyTf32(c, x, y);
  for (int i = 0; i < 4; ++i)
    result.store((group + i / 2 * 8) * 8 + place * 2 + i % 2, c[i]);
}
