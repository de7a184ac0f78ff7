//===- pooling.cuh - maxima and means of windows --------------------------===//
//
// Images are [images, height, width, channels]. A thread has WIDTH neighbouring
// channels of one pixel of the result: it visits the elements of a place, or in
// a gradient the places of an element, row by row, so that sums have one order
// and nothing is added from outside.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "layout.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Places and elements
//===----------------------------------------------------------------------===//

/// Numbers [first, last); `start` is the element of tap 0, which may lie in the
/// padding.
template <typename Index> struct PoolRange {
  Index start, first, last;
};

/// A window that slides along a dimension.
template <long long ELEMENTS, long long PLACES, long long SIZE,
          long long STRIDE, long long LOW, long long HIGH, long long DILATION>
struct PoolWindow {
  static constexpr long long elements = ELEMENTS, places = PLACES, taps = SIZE;
  static constexpr long long dilation = DILATION;

  /// The taps of a place that are elements.
  template <typename Index> static PoolRange<Index> tapsOf(Index place) {
    constexpr Index size = SIZE, step = DILATION, all = ELEMENTS;
    Index start = place * static_cast<Index>(STRIDE) - static_cast<Index>(LOW);
    Index first = start < 0 ? (step - 1 - start) / step : 0;
    Index last = (all - start + step - 1) / step;
    return {start, first, last < size ? last : size};
  }
  /// How many of them a mean counts.
  template <bool PADDED, typename Index> static Index countOf(Index place) {
    if constexpr (PADDED) {
      constexpr Index end = ELEMENTS + LOW + HIGH, size = SIZE;
      Index room = end - place * static_cast<Index>(STRIDE);
      return room < size ? room : size;
    }
    PoolRange<Index> taps = tapsOf(place);
    return taps.last - taps.first;
  }
  /// The places of an element, and with dilations some more.
  template <typename Index> static PoolRange<Index> placesOf(Index element) {
    constexpr Index stride = STRIDE, places = PLACES;
    constexpr Index span = (SIZE - 1) * DILATION + 1;
    Index at = element + static_cast<Index>(LOW);
    Index reach = at + stride - span, last = at / stride + 1;
    return {0, reach > 0 ? reach / stride : 0, last < places ? last : places};
  }
  /// The tap of a place that an element is; -1 if it is none.
  template <typename Index> static Index tapOf(Index element, Index place) {
    constexpr Index step = DILATION;
    Index from =
        element + static_cast<Index>(LOW) - place * static_cast<Index>(STRIDE);
    return from % step ? -1 : from / step;
  }
};

/// The bins of an adaptive pool.
template <long long ELEMENTS, long long PLACES, long long TAPS>
struct PoolBins {
  static constexpr long long elements = ELEMENTS, places = PLACES, taps = TAPS;
  static constexpr long long dilation = 1;

  static long long startOf(long long place) {
    return place * ELEMENTS / PLACES;
  }
  template <typename Index> static PoolRange<Index> tapsOf(Index place) {
    long long start = startOf(place);
    long long end = ((place + 1ll) * ELEMENTS + PLACES - 1) / PLACES;
    return {static_cast<Index>(start), 0, static_cast<Index>(end - start)};
  }
  template <bool PADDED, typename Index> static Index countOf(Index place) {
    return tapsOf(place).last;
  }
  template <typename Index> static PoolRange<Index> placesOf(Index element) {
    long long first = static_cast<long long>(element) * PLACES / ELEMENTS;
    long long last = ((element + 1ll) * PLACES + ELEMENTS - 1) / ELEMENTS;
    return {0, static_cast<Index>(first), static_cast<Index>(last)};
  }
  template <typename Index> static Index tapOf(Index element, Index place) {
    return element - static_cast<Index>(startOf(place));
  }
};

/// Images pooled by H and W; ALL is what every mean counts, or 0 if they
/// differ.
template <long long IMAGES, long long CHANNELS, typename H, typename W,
          bool PADDED, int ALL>
struct PoolShape {
  using Height = H;
  using Width = W;
  static constexpr long long images = IMAGES, channels = CHANNELS;
  static constexpr bool padded = PADDED;
  static constexpr int all = ALL;

  /// What a mean divides by.
  template <typename S, typename Index>
  static S divisorOf(Index row, Index column) {
    if constexpr (ALL != 0)
      return ALL;
    else
      return static_cast<S>(
          static_cast<long long>(H::template countOf<PADDED>(row)) *
          W::template countOf<PADDED>(column));
  }
};

/// The pixel and the first channel of a thread.
template <typename Index> struct PoolPixel {
  Index image, row, column, channel;

  /// Where a pixel of the same image and channel lies.
  template <typename P>
  Index at(long long rows, long long columns, Index y, Index x) const {
    Index line = image * static_cast<Index>(rows) + y;
    return (line * static_cast<Index>(columns) + x) *
               static_cast<Index>(P::channels) +
           channel;
  }
};
/// Pixel number `item` of ROWS x COLUMNS images, counted in WIDTH channels.
template <typename P, int WIDTH, typename Index>
PoolPixel<Index> poolPixel(Index item, long long rows, long long columns) {
  constexpr Index groups = P::channels / WIDTH;
  Index pixel = item / groups, line = pixel / static_cast<Index>(columns);
  return {line / static_cast<Index>(rows), line % static_cast<Index>(rows),
          pixel % static_cast<Index>(columns), item % groups * WIDTH};
}

//===----------------------------------------------------------------------===//
// Places from their elements
//===----------------------------------------------------------------------===//

/// The largest element of a place. A NaN replaces anything, and only a NaN
/// replaces it.
template <typename S, int WIDTH> struct PoolMax {
  S values[WIDTH];
  int numbers[WIDTH];

  explicit PoolMax(int first) {
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      values[i] = lowest<S>();
      numbers[i] = first;
    }
  }
  void add(int i, S x, int number) {
    if (x > values[i] || x != x) {
      values[i] = x;
      numbers[i] = number;
    }
  }
};
/// The sum of a place.
template <typename S, int WIDTH> struct PoolSum {
  S values[WIDTH] = {};

  explicit PoolSum(int) {}
  void add(int i, S x, int) { values[i] = values[i] + x; }
};
/// The element of a given number, or zero.
template <typename S, int WIDTH> struct PoolAt {
  S values[WIDTH] = {};
  int wanted[WIDTH];

  explicit PoolAt(int) {}
  void add(int i, S x, int number) {
    if (number == wanted[i])
      values[i] = x;
  }
};

/// Adds the elements of a place to `fold`.
template <typename P, int WIDTH, typename Index, typename T, typename Fold>
void foldPlace(const PoolPixel<Index> &pixel, Global<T> source, Fold &fold,
               const PoolRange<Index> &down, const PoolRange<Index> &across) {
  using H = typename P::Height;
  using W = typename P::Width;
  for (Index y = down.first; y < down.last; ++y)
    for (Index x = across.first; x < across.last; ++x) {
      Index from = pixel.template at<P>(
          H::elements, W::elements,
          down.start + y * static_cast<Index>(H::dilation),
          across.start + x * static_cast<Index>(W::dilation));
      Items<T, WIDTH> items = loadItems<WIDTH>(source, from);
#pragma unroll
      for (int i = 0; i < WIDTH; ++i)
        fold.add(i, toSummed(items[i]),
                 static_cast<int>(y * static_cast<Index>(W::taps) + x));
    }
}

/// A thread's place.
template <typename P, int WIDTH, typename Index> struct PoolPlace {
  PoolPixel<Index> pixel;
  PoolRange<Index> down, across;
  Index to; ///< in the result

  explicit PoolPlace(Index item)
      : pixel(poolPixel<P, WIDTH>(item, P::Height::places, P::Width::places)),
        down(P::Height::tapsOf(pixel.row)),
        across(P::Width::tapsOf(pixel.column)),
        to(pixel.template at<P>(P::Height::places, P::Width::places, pixel.row,
                                pixel.column)) {}
  template <typename Fold, typename T> void fold(Global<T> source, Fold &fold) {
    foldPlace<P, WIDTH>(pixel, source, fold, down, across);
  }
  int firstNumber() const {
    return static_cast<int>(down.first * static_cast<Index>(P::Width::taps) +
                            across.first);
  }
};

/// The thread's item; false if there is none.
template <typename P, int WIDTH, typename Index>
bool hasPoolItem(int block, long long rows, long long columns, Index &item) {
  item = layoutItem<1, Index>(block, 0);
  return item <
         static_cast<Index>(P::images * rows * columns * (P::channels / WIDTH));
}

template <typename P, int WIDTH, typename Index, typename T>
void maxPool(int block, Global<T> source, Global<T> result) {
  using S = typename Summed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::Height::places, P::Width::places, item))
    return;
  PoolPlace<P, WIDTH, Index> place(item);
  PoolMax<S, WIDTH> fold(0);
  place.fold(source, fold);
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(fold.values[i]);
  storeItems(result, place.to, items);
}

/// The number of the largest element.
template <typename P, int WIDTH, typename Index, typename T, typename I>
void maxPoolIndex(int block, Global<T> source, Global<I> result) {
  using S = typename Summed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::Height::places, P::Width::places, item))
    return;
  PoolPlace<P, WIDTH, Index> place(item);
  PoolMax<S, WIDTH> fold(place.firstNumber());
  place.fold(source, fold);
  Items<I, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = static_cast<I>(fold.numbers[i]);
  storeItems(result, place.to, items);
}

/// The element of a given number.
template <typename P, int WIDTH, typename Index, typename T, typename I>
void maxPoolAt(int block, Global<T> source, Global<I> index, Global<T> result) {
  using S = typename Summed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::Height::places, P::Width::places, item))
    return;
  PoolPlace<P, WIDTH, Index> place(item);
  PoolAt<S, WIDTH> fold(0);
  Items<I, WIDTH> wanted = loadItems<WIDTH>(index, place.to);
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    fold.wanted[i] = wanted[i];
  place.fold(source, fold);
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(fold.values[i]);
  storeItems(result, place.to, items);
}

template <typename P, int WIDTH, typename Index, typename T>
void meanPool(int block, Global<T> source, Global<T> result) {
  using S = typename Summed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::Height::places, P::Width::places, item))
    return;
  PoolPlace<P, WIDTH, Index> place(item);
  PoolSum<S, WIDTH> fold(0);
  place.fold(source, fold);
  S divisor = P::template divisorOf<S>(place.pixel.row, place.pixel.column);
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(fold.values[i] / divisor);
  storeItems(result, place.to, items);
}

//===----------------------------------------------------------------------===//
// Gradients of elements from their places
//===----------------------------------------------------------------------===//

/// A thread's element: calls body(row, column, where) for its places.
template <typename P, int WIDTH, typename Index> struct PoolElement {
  PoolPixel<Index> pixel;
  Index to; ///< in the result

  explicit PoolElement(Index item)
      : pixel(
            poolPixel<P, WIDTH>(item, P::Height::elements, P::Width::elements)),
        to(pixel.template at<P>(P::Height::elements, P::Width::elements,
                                pixel.row, pixel.column)) {}
  template <typename Body> void forPlaces(Body body) {
    PoolRange<Index> down = P::Height::placesOf(pixel.row);
    PoolRange<Index> across = P::Width::placesOf(pixel.column);
    for (Index row = down.first; row < down.last; ++row)
      for (Index column = across.first; column < across.last; ++column)
        body(row, column,
             pixel.template at<P>(P::Height::places, P::Width::places, row,
                                  column));
  }
};

/// Adds the gradients of places whose number is the element's.
template <typename P, int WIDTH, typename Index, typename T, typename I>
void maxPoolBack(int block, Global<T> gradient, Global<I> index,
                 Global<T> result) {
  using S = typename Summed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::Height::elements, P::Width::elements,
                             item))
    return;
  PoolElement<P, WIDTH, Index> element(item);
  S sums[WIDTH] = {};
  element.forPlaces([&](Index row, Index column, Index at) {
    Index down = P::Height::tapOf(element.pixel.row, row);
    Index across = P::Width::tapOf(element.pixel.column, column);
    if (down < 0 || across < 0)
      return;
    const int number =
        static_cast<int>(down * static_cast<Index>(P::Width::taps) + across);
    Items<I, WIDTH> wanted = loadItems<WIDTH>(index, at);
    Items<T, WIDTH> items = loadItems<WIDTH>(gradient, at);
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      if (number == static_cast<int>(wanted[i]))
        sums[i] = sums[i] + toSummed(items[i]);
  });
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(sums[i]);
  storeItems(result, element.to, items);
}

/// Adds the element's part of the gradients of its places.
template <typename P, int WIDTH, typename Index, typename T>
void meanPoolBack(int block, Global<T> gradient, Global<T> result) {
  using S = typename Summed<T>::Type;
  Index item;
  if (!hasPoolItem<P, WIDTH>(block, P::Height::elements, P::Width::elements,
                             item))
    return;
  PoolElement<P, WIDTH, Index> element(item);
  S sums[WIDTH] = {};
  element.forPlaces([&](Index row, Index column, Index at) {
    Items<T, WIDTH> items = loadItems<WIDTH>(gradient, at);
    S divisor = P::all ? S(1) : P::template divisorOf<S>(row, column);
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      sums[i] = sums[i] +
                (P::all ? toSummed(items[i]) : toSummed(items[i]) / divisor);
  });
  Items<T, WIDTH> items;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    items[i] = fromSummed<T>(P::all ? sums[i] / S(P::all) : sums[i]);
  storeItems(result, element.to, items);
}

} // namespace mp
