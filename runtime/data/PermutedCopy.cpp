//===- PermutedCopy.cpp - tensors with dimensions reordered ---------------===//
//
// Dimensions that stay neighbours are one. If the last one stays the last, rows
// are copied whole. Otherwise the last dimension of the source and that of the
// copy span a matrix that is transposed in tiles: a line of the cache from each
// row goes through a small buffer, since rows whose distance is a power of two
// would push each other out of the cache.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/PermutedCopy.h"
#include "support/Permutation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cassert>
#include <cstring>

using namespace llvm;

namespace mp {

static constexpr int64_t kLine = 64;

PermutedCopy::PermutedCopy(const TensorType &type, ArrayRef<int64_t> dims)
    : width(byteWidth(type.element)), isEmpty(type.bytes() == 0) {
  std::vector<int64_t> strides(type.shape.size());
  int64_t stride = width;
  for (size_t i = strides.size(); i-- > 0; stride *= type.shape[i])
    strides[i] = stride;
  int64_t toStride = type.bytes();
  for (auto [size, fromStride] :
       zip_equal(permuted(type.shape, dims), permuted(strides, dims))) {
    if (size <= 1)
      continue;
    toStride /= size;
    if (!outer.empty() && outer.back().fromStride == fromStride * size)
      outer.back() = {outer.back().size * size, fromStride, toStride};
    else
      outer.push_back({size, fromStride, toStride});
  }
  if (outer.empty()) {
    contiguous = width;
    return;
  }
  along = outer.pop_back_val();
  if (along.fromStride == width) {
    contiguous = along.size * width;
    return;
  }
  // The last dimension of the source that is longer than one.
  auto *last = llvm::find_if(
      outer, [&](const Loop &loop) { return loop.fromStride == width; });
  across = *last;
  outer.erase(last);
}

/// Transposes a matrix of `rows` by `columns` elements. Its rows lie
/// `fromStride` bytes apart, and those of the result `toStride`.
template <typename T>
static void transpose(const char *from, int64_t rows, int64_t columns,
                      int64_t fromStride, char *to, int64_t toStride) {
  constexpr int64_t tile = kLine / sizeof(T);
  T buffer[tile][tile];
  for (int64_t column = 0; column < columns; column += tile)
    for (int64_t row = 0; row < rows; row += tile) {
      int64_t height = std::min(tile, rows - row);
      int64_t length = std::min(tile, columns - column);
      for (int64_t i = 0; i < height; ++i)
        std::memcpy(buffer[i],
                    from + (row + i) * fromStride + column * sizeof(T),
                    length * sizeof(T));
      for (int64_t k = 0; k < length; ++k) {
        char *line = to + (column + k) * toStride + row * sizeof(T);
        for (int64_t i = 0; i < height; ++i)
          std::memcpy(line + i * sizeof(T), &buffer[i][k], sizeof(T));
      }
    }
}

void PermutedCopy::copyInner(const char *from, char *to) const {
  if (contiguous) {
    std::memcpy(to, from, contiguous);
    return;
  }
  auto run = [&]<typename T>(T) {
    transpose<T>(from, along.size, across.size, along.fromStride, to,
                 across.toStride);
  };
  switch (width) {
  case 1:
    return run(uint8_t());
  case 2:
    return run(uint16_t());
  case 4:
    return run(uint32_t());
  case 8:
    return run(uint64_t());
  }
  llvm_unreachable("elements have 1, 2, 4 or 8 bytes");
}

void PermutedCopy::operator()(const char *from, char *to) const {
  if (isEmpty)
    return;
  SmallVector<int64_t, 6> place(outer.size());
  while (true) {
    copyInner(from, to);
    size_t dim = outer.size();
    for (; dim > 0; --dim) {
      const Loop &loop = outer[dim - 1];
      from += loop.fromStride;
      to += loop.toStride;
      if (++place[dim - 1] < loop.size)
        break;
      from -= loop.size * loop.fromStride;
      to -= loop.size * loop.toStride;
      place[dim - 1] = 0;
    }
    if (dim == 0)
      return;
  }
}

void copyPermuted(const TensorType &type, ArrayRef<int64_t> dims,
                  ArrayRef<char> from, MutableArrayRef<char> to) {
  assert(from.size() == type.bytes() && to.size() == type.bytes());
  PermutedCopy(type, dims)(from.data(), to.data());
}

} // namespace mp
