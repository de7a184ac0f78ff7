//===- conv-depthwise.cuh - convolutions of each channel by itself --------===//
//
// Where every channel is a group, there is no product to make use of: a thread
// has neighbouring channels, which it loads 16 bytes at once, and sums them
// itself. The constants, Operands and epilogues are those of conv.cuh; a tile
// has rows of the result and channels.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "conv.cuh"

namespace mp {

/// A thread's sums: of neighbouring channels in some rows of a tile.
template <typename P> class ChannelSums {
  using T = typename P::Element;

public:
  using Sum = typename SumOf<T>::Type;
  static constexpr int width = widestOf<P::n>(16 / sizeof(T));
  using W = Walk<threadsOf<P>, P::tileN, width>;
  static constexpr int share = P::tileM / W::rows;
  static_assert(share >= 1 && share * W::rows == P::tileM, "rows of a thread");
  static constexpr int slabs = 1, slabRows = P::tileM;
  static constexpr int rowOf(int slab, int row) { return row; }

  void stage(int slab, Sum *staged) const {
#pragma unroll
    for (int i = 0; i < share; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        staged[(W::row() + i * W::rows) * stagedPitch<P> + W::column() + j] =
            sums[i][j];
  }

protected:
  Sum sums[share][width] = {};
};

/// The convolution, and the gradient of its input: taps after one another.
template <typename P> class TapMath : public ChannelSums<P> {
  using Base = ChannelSums<P>;
  using W = typename Base::W;

public:
  template <typename Operands>
  void run(const Operands &operands, long long row, long long column) {
    const long long channel = column + W::column();
    if (channel >= P::n)
      return;
    WindowPlace places[Base::share];
#pragma unroll
    for (int i = 0; i < Base::share; ++i) {
      long long m = row + W::row() + i * W::rows;
      places[i] = operands.windowPlace(m);
      if (m >= P::m)
        places[i].first.y = -(1 << 30);
    }
    const auto &taps = operands.windowTaps();
#pragma unroll 1
    for (int tap = 0; tap < taps.count(); ++tap)
      add(operands, places, taps.pixel(tap), taps.weightTap(tap), channel);
  }

private:
  template <typename Operands>
  void add(const Operands &operands, const WindowPlace *places, Pixel by,
           int tap, long long channel) {
    using I = typename Operands::Images;
    using C = typename P::Convolution;
    typename Base::Sum weights[Base::width];
#pragma unroll
    for (int j = 0; j < Base::width; ++j)
      weights[j] = toSum(operands.weight.load(
          (channel + j) * C::windowHeight * C::windowWidth + tap));
#pragma unroll
    for (int i = 0; i < Base::share; ++i) {
      Pixel first = places[i].first;
      if (!isInImage<I>(first.y + by.y, first.x + by.x))
        continue;
      auto loaded = operands.images.template loadVector<Base::width>(
          places[i].index + distanceOf<I>(by) + channel);
#pragma unroll
      for (int j = 0; j < Base::width; ++j)
        this->sums[i][j] = multiplyAndAdd(toSum(loaded.items[j]), weights[j],
                                          this->sums[i][j]);
    }
  }
};

/// The gradient of the weight, whose rows are taps: places after one another.
template <typename P> class PlaceMath : public ChannelSums<P> {
  using Base = ChannelSums<P>;
  using W = typename Base::W;

public:
  template <typename Operands>
  void run(const Operands &operands, long long row, long long column) {
    using I = typename Operands::Images;
    const long long channel = column + W::column();
    if (channel >= P::n)
      return;
    const long long end =
        min(P::k, static_cast<long long>(operands.place.template depth<P>()) +
                      tilesOfSplit<P> * P::tileK);
#pragma unroll 1
    for (long long k = operands.place.template depth<P>(); k < end; ++k) {
      auto gradient = operands.gradient.template loadVector<Base::width>(
          k * P::n + channel);
      WindowPlace place = operands.windowPlace(k);
#pragma unroll
      for (int i = 0; i < Base::share; ++i) {
        int tap = static_cast<int>(row) + W::row() + i * W::rows;
        Pixel by = operands.windowTaps().pixel(tap);
        if (tap >= P::m ||
            !isInImage<I>(place.first.y + by.y, place.first.x + by.x))
          continue;
        auto loaded = operands.images.template loadVector<Base::width>(
            place.index + distanceOf<I>(by) + channel);
#pragma unroll
        for (int j = 0; j < Base::width; ++j)
          this->sums[i][j] =
              multiplyAndAdd(toSum(gradient.items[j]), toSum(loaded.items[j]),
                             this->sums[i][j]);
      }
    }
  }
};

template <typename P> struct ChosenMath<P, Path::Taps> {
  using Type = TapMath<P>;
};
template <typename P> struct ChosenMath<P, Path::Places> {
  using Type = PlaceMath<P>;
};

/// The Operands of the weight's gradient: rows are taps, columns channels, and
/// the result has a row for each channel's taps.
template <typename P> class DepthwiseBackwardWeight {
  using T = typename P::Element;
  using C = typename P::Convolution;

public:
  using Images = InputImages<C>;
  static constexpr long long rows = P::m * P::n, columns = 1;
  DepthwiseBackwardWeight(Global<T> gradient, Global<T> input, unsigned char *)
      : place(placeOfBlock<P>()), gradient(gradient), images(input) {}

  WindowPlace windowPlace(long long k) const {
    return InputPlaces<C>{0}.placeOf(k);
  }
  static constexpr AllTaps<C> windowTaps() { return {}; }

  static constexpr bool has(long long) { return true; }
  static long long resultRow(long long m, long long n) { return n * P::m + m; }
  static constexpr long long resultColumn(long long) { return 0; }
  /// Epilogues have no reductions down columns here.
  static constexpr long long partialRow() { return 0; }

  TilePlace place;
  Global<T> gradient, images;
};

} // namespace mp
