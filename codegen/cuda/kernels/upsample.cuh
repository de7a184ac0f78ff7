//===- upsample.cuh - images in another size, sums of channels ------------===//
//
// Images are [images, height, width, channels]. A thread has WIDTH neighbouring
// channels of one pixel of the result; a gradient visits the pixels that have a
// part of it, row by row.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "pooling.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Where pixels lie
//===----------------------------------------------------------------------===//

enum class PixelPlace { nearest, middles, corners };

/// A pixel of the result lies between two of the source, `part` of the way.
template <typename Index, typename R> struct UpsampleSource {
  Index first, second;
  R part;
};

/// Places are computed in R, as PyTorch does.
template <long long ELEMENTS, long long PLACES, PixelPlace PLACE>
struct UpsampleDim {
  static constexpr long long elements = ELEMENTS, places = PLACES;
  static constexpr bool mixes =
      PLACE != PixelPlace::nearest && ELEMENTS != PLACES;

  template <typename R, typename Index>
  static UpsampleSource<Index, R> sourceOf(Index place) {
    constexpr Index last = ELEMENTS - 1;
    if constexpr (ELEMENTS == PLACES)
      return {place, place, R(0)};
    R at = static_cast<R>(place);
    if constexpr (PLACE == PixelPlace::nearest) {
      constexpr float scale =
          static_cast<float>(ELEMENTS) / static_cast<float>(PLACES);
      Index found = static_cast<Index>(static_cast<float>(place) * scale);
      return {found < last ? found : last, last, R(0)};
    } else if constexpr (PLACE == PixelPlace::corners) {
      constexpr long long steps = PLACES > 1 ? PLACES - 1 : 1;
      constexpr R scale =
          PLACES > 1 ? static_cast<R>(ELEMENTS - 1) / static_cast<R>(steps)
                     : R(0);
      at = at * scale;
    } else {
      constexpr R scale = static_cast<R>(ELEMENTS) / static_cast<R>(PLACES);
      at = (at + R(0.5)) * scale - R(0.5);
      at = at > R(0) ? at : R(0);
    }
    Index first = static_cast<Index>(at);
    first = first < last ? first : last;
    R part = at - static_cast<R>(first);
    return {first, first < last ? first + 1 : last, part < R(1) ? part : R(1)};
  }

  /// How much of an element a place has.
  template <typename R, typename Index>
  static R weightOf(Index place, Index element) {
    UpsampleSource<Index, R> source = sourceOf<R>(place);
    if constexpr (!mixes)
      return source.first == element ? R(1) : R(0);
    return (source.first == element ? R(1) - source.part : R(0)) +
           (source.second == element ? source.part : R(0));
  }

  /// The places that have a part of an element: estimated in integers, one too
  /// many at each end, and then made smaller.
  template <typename R, typename Index>
  static PoolRange<Index> placesOf(Index element) {
    const long long e = element;
    long long low, high;
    if constexpr (PLACE == PixelPlace::nearest) {
      low = e * PLACES / ELEMENTS;
      high = ((e + 1) * PLACES + ELEMENTS - 1) / ELEMENTS;
    } else if constexpr (PLACE == PixelPlace::corners) {
      constexpr long long steps = ELEMENTS > 1 ? ELEMENTS - 1 : 1;
      low = e > 0 ? (e - 1) * (PLACES - 1) / steps : 0;
      high = ELEMENTS == 1 ? PLACES : (e + 1) * (PLACES - 1) / steps + 1;
    } else {
      low = e > 0 ? (2 * e - 1) * PLACES / (2 * ELEMENTS) : 0;
      high = (2 * e + 3) * PLACES / (2 * ELEMENTS) + 1;
    }
    Index first = static_cast<Index>(low > 0 ? low - 1 : 0);
    Index last = static_cast<Index>(high < PLACES ? high + 1 : PLACES);
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      if (weightOf<R>(first, element) == R(0))
        ++first;
      if (weightOf<R>(last - 1, element) == R(0))
        --last;
    }
    return {0, first, last};
  }
};

template <long long IMAGES, long long CHANNELS, typename H, typename W>
struct UpsampleShape {
  using Height = H;
  using Width = W;
  static constexpr long long images = IMAGES, channels = CHANNELS;
};

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

/// A row of the source, between two of its pixels.
template <typename P, int WIDTH, typename S, typename Index, typename T>
Items<S, WIDTH> upsampleRow(const PoolPixel<Index> &pixel, Global<T> source,
                            Index row, const UpsampleSource<Index, S> &across) {
  using H = typename P::Height;
  using W = typename P::Width;
  Items<S, WIDTH> mixed;
  Items<T, WIDTH> first =
      loadItems<WIDTH>(source, pixel.template at<P>(H::elements, W::elements,
                                                    row, across.first));
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    mixed[i] = toSummed(first[i]);
  if constexpr (W::mixes) {
    Items<T, WIDTH> second =
        loadItems<WIDTH>(source, pixel.template at<P>(H::elements, W::elements,
                                                      row, across.second));
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      mixed[i] =
          (S(1) - across.part) * mixed[i] + across.part * toSummed(second[i]);
  }
  return mixed;
}

template <typename P, int WIDTH, typename Index, typename T>
void upsample(int block, Global<T> source, Global<T> result) {
  using S = typename Summed<T>::Type;
  using H = typename P::Height;
  using W = typename P::Width;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, H::places, W::places, item))
    return;
  PoolPixel<Index> pixel = poolPixel<P, WIDTH>(item, H::places, W::places);
  UpsampleSource<Index, S> down = H::template sourceOf<S>(pixel.row);
  UpsampleSource<Index, S> across = W::template sourceOf<S>(pixel.column);
  Items<S, WIDTH> mixed =
      upsampleRow<P, WIDTH, S>(pixel, source, down.first, across);
  if constexpr (H::mixes) {
    Items<S, WIDTH> second =
        upsampleRow<P, WIDTH, S>(pixel, source, down.second, across);
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      mixed[i] = (S(1) - down.part) * mixed[i] + down.part * second[i];
  }
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(mixed[i]);
  storeItems(
      result,
      pixel.template at<P>(H::places, W::places, pixel.row, pixel.column),
      items);
}

/// The gradient of the source. What has no part adds nothing, whatever it is.
template <typename P, int WIDTH, typename Index, typename T>
void upsampleBack(int block, Global<T> gradient, Global<T> result) {
  using S = typename Summed<T>::Type;
  using H = typename P::Height;
  using W = typename P::Width;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, H::elements, W::elements, item))
    return;
  PoolPixel<Index> pixel = poolPixel<P, WIDTH>(item, H::elements, W::elements);
  PoolRange<Index> down = H::template placesOf<S>(pixel.row);
  PoolRange<Index> across = W::template placesOf<S>(pixel.column);
  S sums[WIDTH] = {};
  for (Index row = down.first; row < down.last; ++row) {
    S rowWeight = H::template weightOf<S>(row, pixel.row);
    for (Index column = across.first; column < across.last; ++column) {
      S weight = rowWeight * W::template weightOf<S>(column, pixel.column);
      if (weight == S(0))
        continue;
      Items<T, WIDTH> items = loadItems<WIDTH>(
          gradient, pixel.template at<P>(H::places, W::places, row, column));
#pragma unroll
      for (int i = 0; i < WIDTH; ++i)
        sums[i] = sums[i] + weight * toSummed(items[i]);
    }
  }
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(sums[i]);
  storeItems(
      result,
      pixel.template at<P>(H::elements, W::elements, pixel.row, pixel.column),
      items);
}

//===----------------------------------------------------------------------===//
// Sums of neighbouring channels
//===----------------------------------------------------------------------===//

/// ROWS of SIZE elements; the window of one is from LOW before it to HIGH after
/// it.
template <long long ROWS, long long SIZE, long long LOW, long long HIGH>
struct WindowOf {
  static constexpr long long rows = ROWS, size = SIZE, low = LOW, high = HIGH;
};

/// Adds the elements of each window in their order.
template <typename P, int WIDTH, typename Index, typename T>
void windowSum(int block, Global<T> source, Global<T> result) {
  using S = typename Summed<T>::Type;
  constexpr Index size = P::size, low = P::low, high = P::high;
  const Index at = layoutItem<1, Index>(block, 0) * WIDTH;
  if (at >= static_cast<Index>(P::rows) * size)
    return;
  const Index channel = at % size, row = at - channel;
  S sums[WIDTH] = {};
  // Those of WIDTH windows overlap: each element is loaded once.
  for (Index place = channel - low; place < channel + WIDTH + high; ++place) {
    if (place < 0 || place >= size)
      continue;
    S value = toSummed(source.load(row + place));
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      if (place >= channel + i - low && place <= channel + i + high)
        sums[i] = sums[i] + value;
  }
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(sums[i]);
  storeItems(result, at, items);
}

} // namespace mp
