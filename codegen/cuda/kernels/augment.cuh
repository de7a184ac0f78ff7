//===- augment.cuh - images moved by numbers of their own -----------------===//
#pragma once

#include "layout.cuh"

namespace mp {

/// Images [images, height, width, channels], channels in items.
template <long long IMAGES, long long HEIGHT, long long WIDTH,
          long long CHANNELS>
struct MovedImages {
  static constexpr long long images = IMAGES, height = HEIGHT, width = WIDTH;
  static constexpr long long channels = CHANNELS;
};

/// Moves each image by its rows and columns; zeros come in. Columns of a
/// mirrored image count from its right edge.
template <int WIDTH, int EACH, bool MIRRORS, typename P, typename Index,
          typename T, typename F>
void moveImages(int block, Global<T> source, Global<int> rows,
                Global<int> columns, Global<F> mirrored, Global<T> result) {
  constexpr Index height = P::height, width = P::width, channels = P::channels;
  constexpr Index all = P::images * height * width * channels;
  Items<T, WIDTH> items[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i);
    if (item >= all)
      continue;
    Index pixel = item / channels, line = pixel / width;
    Index image = line / height;
    // Sums in 64 bits: the numbers may be any.
    long long row = line % height + static_cast<long long>(rows.load(image));
    long long column = pixel % width;
    if constexpr (MIRRORS)
      column = mirrored.load(image) ? width - 1 - column : column;
    column += columns.load(image);
    if (row >= 0 && row < height && column >= 0 && column < width) {
      Index from = image * height + static_cast<Index>(row);
      from = (from * width + static_cast<Index>(column)) * channels +
             item % channels;
      items[i] = loadItems<WIDTH>(source, from * WIDTH);
    } else {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j)
        items[i][j] = T();
    }
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    Index item = layoutItem<EACH, Index>(block, i);
    if (item < all)
      storeItems(result, item * WIDTH, items[i]);
  }
}

} // namespace mp
