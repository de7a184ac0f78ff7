// out (64x64) = a (64x64) b (64x64) in halves, by one warp per 16 rows: copied
// to shared memory, read by ldmatrix, multiplied by the tensor core.
#include "prelude.cuh"
using namespace mp;

extern "C" __global__ void k(Element *a, Element *b, float *out) {
  constexpr int size = 64, pitch = size + 8; // rows start in different banks
  MP_SHARED_MEMORY(shared);
  auto *left = reinterpret_cast<Element *>(shared);
  Element *right = left + size * pitch;
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  auto from = [&](Element *to, Element *tensor) {
    for (int at = thread * 8; at < size * size; at += blockDim.x * 8)
      copyAsync<8>(to + at / size * pitch + at % size,
                   global(tensor, size * size), at, 8);
    commitCopies();
  };
  from(left, a);
  from(right, b);
  waitForCopies<0>();
  barrier();
  for (int column = 0; column < size; column += 16) {
    float c[2][4] = {};
    for (int k = 0; k < size; k += 16) {
      unsigned x[4], y[4];
      int row = lane % 16, half = lane / 16 * 8;
      loadMatrices(x, left + (warp * 16 + row) * pitch + k + half);
      loadMatricesTransposed(y, right + (k + row) * pitch + column + half);
      multiply<Element>(c[0], x, {y[0], y[1]});
      multiply<Element>(c[1], x, {y[2], y[3]});
    }
    auto result = global(out, size * size);
    for (int part = 0; part < 2; ++part)
      for (int i = 0; i < 4; ++i)
        result.store((warp * 16 + lane / 4 + i / 2 * 8) * size + column +
                         part * 8 + lane % 4 * 2 + i % 2,
                     c[part][i]);
  }
}
