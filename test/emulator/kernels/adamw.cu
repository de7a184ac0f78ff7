// The traffic of an AdamW update from f16 gradients: master and two moments
// read and written, gradient read, working copy written.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(float *master, float *first, float *second,
                             f16 *gradient, f16 *copy) {
  constexpr long long count = 4096;
  long long at = 4 * (static_cast<long long>(blockIdx.x) * blockDim.x +
                      threadIdx.x);
  auto w = global(master, count).loadVector<4>(at);
  auto m = global(first, count).loadVector<4>(at);
  auto v = global(second, count).loadVector<4>(at);
  auto g = global(gradient, count).loadVector<4>(at);
  Vector<f16, 4> narrow;
  for (int i = 0; i < 4; ++i) {
    float slope = toFloat(g.items[i]);
    m.items[i] = mp::fma(0.1f, slope - m.items[i], m.items[i]);
    v.items[i] = mp::fma(0.01f, slope * slope - v.items[i], v.items[i]);
    w.items[i] -= 0.001f * m.items[i] / (mp::sqrt(v.items[i]) + 1e-8f);
    narrow.items[i] = roundTo<f16>(w.items[i]);
  }
  global(master, count).storeVector<4>(at, w);
  global(first, count).storeVector<4>(at, m);
  global(second, count).storeVector<4>(at, v);
  global(copy, count).storeVector<4>(at, narrow);
}
