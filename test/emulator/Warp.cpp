//===- Warp.cpp - joint operations of 32 lanes ----------------------------===//
//
// Fragments have the layout of the PTX ISA (sections on ldmatrix and on
// mma.m16n8k16 and mma.m16n8k8).
//
//===----------------------------------------------------------------------===//

#include "Warp.h"

#include <cstdint>
#include <cstring>

namespace mp::emulator {

using Calls = WarpCall *const *;

static void shuffle(Calls calls) {
  unsigned char values[warpSize][8];
  int size = calls[0]->size;
  for (int lane = 0; lane < warpSize; ++lane)
    memcpy(values[lane], calls[lane]->value, size);
  for (int lane = 0; lane < warpSize; ++lane)
    memcpy(calls[lane]->value, values[(lane ^ calls[lane]->mask) % warpSize],
           size);
}

static void any(Calls calls, int lanes) {
  bool result = false;
  for (int lane = 0; lane < lanes; ++lane)
    result |= *static_cast<bool *>(calls[lane]->value);
  for (int lane = 0; lane < lanes; ++lane)
    *static_cast<bool *>(calls[lane]->value) = result;
}

static void loadMatrices(Calls calls, bool transposed) {
  uint16_t rows[warpSize][8]; // row r of matrix m is rows[8 * m + r]
  for (int lane = 0; lane < warpSize; ++lane)
    memcpy(rows[lane], calls[lane]->first, sizeof(rows[lane]));
  for (int lane = 0; lane < warpSize; ++lane) {
    auto *result = static_cast<uint32_t *>(calls[lane]->value);
    int major = lane / 4, minor = 2 * (lane % 4);
    for (int matrix = 0; matrix < 4; ++matrix) {
      const auto *at = rows + 8 * matrix;
      uint32_t low = transposed ? at[minor][major] : at[major][minor];
      uint32_t high = transposed ? at[minor + 1][major] : at[major][minor + 1];
      result[matrix] = high << 16 | low;
    }
  }
}

static float halfToFloat(uint32_t bits) {
  uint32_t magnitude = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
  float moved, scale;
  uint32_t power = 0x77800000; // 2^112: moves the exponent, exactly
  memcpy(&moved, &magnitude, 4);
  memcpy(&scale, &power, 4);
  moved *= scale;
  uint32_t result, special = magnitude | 0x7f800000;
  memcpy(&result, &moved, 4);
  result = (magnitude >= 0x7c00u << 13 ? special : result) | sign;
  memcpy(&moved, &result, 4);
  return moved;
}
static float bfloatToFloat(uint32_t bits) {
  bits <<= 16;
  float result;
  memcpy(&result, &bits, 4);
  return result;
}
static float tf32ToFloat(uint32_t bits) {
  bits &= ~0x1fffu; // the tensor core does not read them
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

/// c (16x8) += a (16 x K) b (K x 8): products are exact in f32, sums rounded
/// to f32 in the order of K.
template <int K>
static void multiplyTile(float (*c)[8], const float (*a)[K],
                         const float (*b)[8]) {
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < K; ++k)
      for (int column = 0; column < 8; ++column)
        c[row][column] += a[row][k] * b[k][column];
}

static void loadC(Calls calls, float (*c)[8]) {
  for (int lane = 0; lane < warpSize; ++lane)
    for (int half = 0; half < 2; ++half)
      memcpy(&c[lane / 4 + 8 * half][2 * (lane % 4)],
             static_cast<float *>(calls[lane]->value) + 2 * half, 8);
}
static void storeC(Calls calls, const float (*c)[8]) {
  for (int lane = 0; lane < warpSize; ++lane)
    for (int half = 0; half < 2; ++half)
      memcpy(static_cast<float *>(calls[lane]->value) + 2 * half,
             &c[lane / 4 + 8 * half][2 * (lane % 4)], 8);
}

template <float Convert(uint32_t)> static void multiplyHalves(Calls calls) {
  uint32_t abits[16][8], bbits[8][8]; // pairs along K; b by column
  for (int lane = 0; lane < warpSize; ++lane) {
    const auto *first = static_cast<const uint32_t *>(calls[lane]->first);
    const auto *second = static_cast<const uint32_t *>(calls[lane]->second);
    int group = lane / 4, pair = lane % 4;
    for (int part = 0; part < 4; ++part)
      abits[group + 8 * (part % 2)][pair + 4 * (part / 2)] = first[part];
    for (int part = 0; part < 2; ++part)
      bbits[group][pair + 4 * part] = second[part];
  }
  float a[16][16], b[16][8], c[16][8];
  for (int row = 0; row < 16; ++row)
    for (int pair = 0; pair < 8; ++pair) {
      a[row][2 * pair] = Convert(abits[row][pair] & 0xffff);
      a[row][2 * pair + 1] = Convert(abits[row][pair] >> 16);
    }
  for (int pair = 0; pair < 8; ++pair)
    for (int column = 0; column < 8; ++column) {
      b[2 * pair][column] = Convert(bbits[column][pair] & 0xffff);
      b[2 * pair + 1][column] = Convert(bbits[column][pair] >> 16);
    }
  loadC(calls, c);
  multiplyTile<16>(c, a, b);
  storeC(calls, c);
}

static void multiplyTf32(Calls calls) {
  float a[16][8], b[8][8], c[16][8];
  for (int lane = 0; lane < warpSize; ++lane) {
    const auto *first = static_cast<const uint32_t *>(calls[lane]->first);
    const auto *second = static_cast<const uint32_t *>(calls[lane]->second);
    int group = lane / 4, place = lane % 4;
    for (int part = 0; part < 4; ++part)
      a[group + 8 * (part % 2)][place + 4 * (part / 2)] =
          tf32ToFloat(first[part]);
    for (int part = 0; part < 2; ++part)
      b[place + 4 * part][group] = tf32ToFloat(second[part]);
  }
  loadC(calls, c);
  multiplyTile<8>(c, a, b);
  storeC(calls, c);
}

void perform(WarpCall *const *calls, int lanes) {
  switch (calls[0]->action) {
  case WarpAction::Barrier:
    return;
  case WarpAction::Shuffle:
    return shuffle(calls);
  case WarpAction::Any:
    return any(calls, lanes);
  case WarpAction::Load:
  case WarpAction::Transpose:
    return loadMatrices(calls, calls[0]->action == WarpAction::Transpose);
  case WarpAction::MultiplyF16:
    return multiplyHalves<halfToFloat>(calls);
  case WarpAction::MultiplyBf16:
    return multiplyHalves<bfloatToFloat>(calls);
  case WarpAction::MultiplyTf32:
    return multiplyTf32(calls);
  }
}

const char *nameOf(WarpAction action) {
  static const char *const names[] = {"warpBarrier",
                                      "shuffle",
                                      "anyOfWarp",
                                      "loadMatrices",
                                      "loadMatricesTransposed",
                                      "multiply<f16>",
                                      "multiply<bf16>",
                                      "multiplyTf32"};
  return names[static_cast<int>(action)];
}

} // namespace mp::emulator
