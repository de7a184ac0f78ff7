//===- crop.cuh - boxes of images in one size -----------------------------===//
//
// Images are [images, height, width, channels]. A thread has WIDTH neighbouring
// channels of one pixel of the result. Places are computed in f32, and pixels
// are mixed in f32, or in f64 if that is what they are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "pooling.cuh"

namespace mp {

/// Images of HEIGHT x WIDTH pixels, and of ROWS x COLUMNS in the result.
template <long long IMAGES, long long CHANNELS, long long HEIGHT,
          long long WIDTH, long long ROWS, long long COLUMNS>
struct CropShape {
  static constexpr long long images = IMAGES, channels = CHANNELS;
  static constexpr long long height = HEIGHT, width = WIDTH;
  static constexpr long long rows = ROWS, columns = COLUMNS;
};

/// Within [low, high]; a NaN becomes `low`.
inline float within(float value, float low, float high) {
  return minimumNumber(maximumNumber(value, low), high);
}

/// A place between two pixels, `part` of the way.
template <typename Index> struct CropPlace {
  Index first, second;
  float part;
};

/// Place number `place` of PLACES in a side of a box, among ELEMENTS pixels.
template <long long ELEMENTS, long long PLACES, typename Index>
CropPlace<Index> cropPlace(Index place, float begin, float extent) {
  constexpr float edge = ELEMENTS - 1;
  float whole = floor(begin), fraction = begin - whole;
  float last = maximumNumber(extent - 1.0f, 0.0f);
  float scale = extent / static_cast<float>(PLACES);
  float at = (static_cast<float>(place) + 0.5f) * scale - 0.5f;
  at = within(at, 0.0f, last) + fraction;
  float before = floor(at), first = whole + before;
  return {static_cast<Index>(within(first, 0.0f, edge)),
          static_cast<Index>(within(first + 1.0f, 0.0f, edge)),
          within(at - before, 0.0f, 1.0f)};
}

/// What pixels are mixed in.
template <typename T> struct Mixed {
  using Type = float;
};
template <> struct Mixed<double> {
  using Type = double;
};
template <typename T> typename Mixed<T>::Type toMixed(T value) {
  if constexpr (isSame<T, unsigned char>)
    return static_cast<float>(value);
  else
    return toSummed(value);
}
template <typename T> T fromMixed(typename Mixed<T>::Type value) {
  if constexpr (isSame<T, unsigned char>)
    return static_cast<T>(static_cast<int>(roundToEven(value)));
  else
    return fromSummed<T>(value);
}

template <typename P, int WIDTH, typename Index, typename T>
void cropResize(int block, Global<T> source, Global<float> top,
                Global<float> left, Global<float> height, Global<float> width,
                Global<T> result) {
  using S = typename Mixed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::rows, P::columns, item))
    return;
  PoolPixel<Index> pixel = poolPixel<P, WIDTH>(item, P::rows, P::columns);
  CropPlace<Index> down = cropPlace<P::height, P::rows>(
      pixel.row, top.load(pixel.image), height.load(pixel.image));
  CropPlace<Index> across = cropPlace<P::width, P::columns>(
      pixel.column, left.load(pixel.image), width.load(pixel.image));
  auto corner = [&](Index row, Index column) {
    return loadItems<WIDTH>(
        source, pixel.template at<P>(P::height, P::width, row, column));
  };
  Items<T, WIDTH> corners[] = {
      corner(down.first, across.first), corner(down.first, across.second),
      corner(down.second, across.first), corner(down.second, across.second)};
  const S right = across.part, low = down.part;
  auto between = [](S part, S x, S y) { return (S(1) - part) * x + part * y; };
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromMixed<T>(between(
        low, between(right, toMixed(corners[0][i]), toMixed(corners[1][i])),
        between(right, toMixed(corners[2][i]), toMixed(corners[3][i]))));
  storeItems(result,
             pixel.template at<P>(P::rows, P::columns, pixel.row, pixel.column),
             items);
}

} // namespace mp
