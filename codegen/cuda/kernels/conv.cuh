//===- conv.cuh - convolutions as products --------------------------------===//
//
// The Operands (gemm.cuh) of mp.conv2d and its two gradients. Each is a product
// for every group of channels, one of whose operands is never in memory: a
// block finds the elements of its tiles in the images (conv-tile.cuh).
//
//   forward        y [places, outputs] = x [places, window] w^T
//   backwardInput  dx [pixels, inputs] = dy [pixels, taps outputs] w
//   backwardWeight dw [outputs, window] = dy^T x [places, window]
//
// A window's elements are (row, column, input channel), as in the weight.
//
// A product P has, beside the constants of gemm.cuh, `struct Convolution` of
//
//   int images, inputHeight, inputWidth, outputHeight, outputWidth
//   int groups, inputs, outputs        channels of one group
//   int windowHeight, windowWidth, strideY, strideX, lowY, lowX
//   int dilationY, dilationX
//
//===----------------------------------------------------------------------===//
#pragma once

#include "conv-tile.cuh"
#include "gemm.cuh"

namespace mp {

//===----------------------------------------------------------------------===//
// Images and windows
//===----------------------------------------------------------------------===//

template <typename C> struct InputImages {
  static constexpr long long height = C::inputHeight, width = C::inputWidth,
                             pitch = C::groups * C::inputs,
                             channels = C::inputs;
};
template <typename C> struct OutputImages {
  static constexpr long long height = C::outputHeight, width = C::outputWidth,
                             pitch = C::groups * C::outputs,
                             channels = C::outputs;
};

/// Pixel (y, x) of image `image`, of which a group's channels are seen.
template <typename I>
WindowPlace placeAt(long long image, int y, int x, long long group) {
  long long row = image * I::height + y;
  return {(row * I::width + x) * I::pitch + group * I::channels, {y, x}};
}

template <typename I, typename T>
T elementAt(Global<T> images, WindowPlace place, Pixel by, long long channel) {
  return isInImage<I>(place.first.y + by.y, place.first.x + by.x)
             ? images.load(place.index + distanceOf<I>(by) + channel)
             : T();
}

/// All taps of the window, over the input.
template <typename C> struct AllTaps {
  static constexpr int count() { return C::windowHeight * C::windowWidth; }
  static constexpr Pixel pixel(int tap) {
    return {tap / C::windowWidth * C::dilationY,
            tap % C::windowWidth * C::dilationX};
  }
  static constexpr int weightTap(int tap) { return tap; }
};

/// The places of the window in the input: the pixels of the output.
template <typename C> struct InputPlaces {
  static constexpr long long count =
      static_cast<long long>(C::images) * C::outputHeight * C::outputWidth;
  long long group;

  WindowPlace placeOf(unsigned number) const {
    constexpr unsigned width = C::outputWidth, height = C::outputHeight;
    unsigned line = number / width;
    return placeAt<InputImages<C>>(
        line / height, static_cast<int>(line % height) * C::strideY - C::lowY,
        static_cast<int>(number % width) * C::strideX - C::lowX, group);
  }
};

/// Behind the ring of stages: the places of the tile's rows.
template <typename P> WindowPlace *placesIn(unsigned char *shared) {
  return reinterpret_cast<WindowPlace *>(
      shared + P::stages * (P::tileM + P::tileN) * P::tileK *
                   static_cast<int>(sizeof(typename P::Element)));
}

/// Writes the places of the rows of a block's tile, by all threads.
template <typename P, typename Places>
void writePlaces(WindowPlace *to, const Places &places, int row) {
  if constexpr (hasRing(P::path)) {
#pragma unroll 1
    for (int i = threadIdx.x; i < P::tileM; i += threadsOf<P>) {
      to[i] = places.placeOf(row + i);
      if (row + i >= Places::count)
        to[i].first.y = -(1 << 30); // so that no tap is in an image
    }
    barrier();
  }
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

template <typename P> class ConvolutionForward {
  using T = typename P::Element;
  using C = typename P::Convolution;

public:
  using Images = InputImages<C>;
  static constexpr long long rows = P::m, columns = OutputImages<C>::pitch;
  ConvolutionForward(Global<T> input, Global<T> weight, unsigned char *shared)
      : place(placeOfBlock<P>()), images(input), weight(weight),
        places{place.batch}, table(placesIn<P>(shared)),
        firstB(place.batch * P::n * P::k) {
    writePlaces<P>(table, places, place.row<P>());
  }

  template <typename Tile>
  using CopyA = ElementCopy<Tile, threadsOf<P>, Images, AllTaps<C>>;
  template <typename Tile>
  using CopyB = TileCopy<Tile, threadsOf<P>, P::n, P::k, false>;
  template <typename Tile> CopyA<Tile> copyA() const {
    return {images, table, {}, place.depth<P>()};
  }
  template <typename Tile> CopyB<Tile> copyB() const {
    return {weight, firstB, place.column<P>(), place.depth<P>()};
  }

  static constexpr long long depth() { return P::k; }
  T elementA(long long m, long long k) const {
    return elementAt<Images>(images, places.placeOf(m),
                             AllTaps<C>::pixel(k / C::inputs), k % C::inputs);
  }
  T elementB(long long k, long long n) const {
    return weight.load(firstB + n * P::k + k);
  }

  WindowPlace windowPlace(long long m) const { return places.placeOf(m); }
  static constexpr AllTaps<C> windowTaps() { return {}; }

  static constexpr bool has(long long) { return true; }
  static long long resultRow(long long m, long long) { return m; }
  long long resultColumn(long long n) const { return place.batch * P::n + n; }
  long long partialRow() const { return place.tileRow; }

  TilePlace place;
  Global<T> images, weight;

private:
  InputPlaces<C> places;
  WindowPlace *table;
  long long firstB;
};

//===----------------------------------------------------------------------===//
// Gradient of the input
//===----------------------------------------------------------------------===//

constexpr int commonDivisor(int a, int b) {
  return b ? commonDivisor(b, a % b) : a;
}

/// Pixels of the input whose coordinates leave the same remainder when divided
/// by the stride are a phase: the same taps reach all of them. This is a phase
/// along one dimension.
template <int Size, int Stride, int Low, int Dilation> class Phase {
  static constexpr int common = commonDivisor(Stride, Dilation);

public:
  /// Taps of the window from one of the phase to the next, and pixels of the
  /// output by which it moves then.
  static constexpr int apart = Stride / common, by = Dilation / common;

  explicit Phase(int number) {
    while (first < min(Size, apart) && from(number) % Stride != 0)
      ++first;
    own = first < min(Size, apart) ? (Size - first + apart - 1) / apart : 0;
    origin = own ? from(number) / Stride : 0;
  }
  int firstTap() const { return first; }
  int count() const {
    return common == 1 && Size % apart == 0 ? Size / apart : own;
  }
  /// The output's pixel that reaches the phase's first pixel by its first tap.
  int firstPixel() const { return origin; }

private:
  int from(int number) const { return number + Low - first * Dilation; }
  int first = 0, own, origin;
};

/// The taps that reach a phase, and where they begin.
template <typename C> struct PhaseTaps {
  static constexpr int phasesY = min(C::strideY, C::inputHeight),
                       phasesX = min(C::strideX, C::inputWidth);
  explicit PhaseTaps(int phase)
      : numberY(phase / phasesX), numberX(phase % phasesX), y(numberY),
        x(numberX) {}

  int count() const { return y.count() * x.count(); }
  Pixel pixel(int tap) const {
    return {-(tap / x.count()) * y.by, -(tap % x.count()) * x.by};
  }
  int weightTap(int tap) const {
    return (y.firstTap() + tap / x.count() * y.apart) * C::windowWidth +
           x.firstTap() + tap % x.count() * x.apart;
  }

  int numberY, numberX;
  Phase<C::windowHeight, C::strideY, C::lowY, C::dilationY> y;
  Phase<C::windowWidth, C::strideX, C::lowX, C::dilationX> x;
};

/// The pixels of a phase, as places in the output. Where the stride does not
/// divide the image, some phases have fewer: those pixels do not exist.
template <typename C> struct PhasePlaces {
  static constexpr unsigned height = ceilDivide(C::inputHeight, C::strideY),
                            width = ceilDivide(C::inputWidth, C::strideX);
  static constexpr bool hasGaps =
      (height > 1 && C::inputHeight % C::strideY != 0) ||
      (width > 1 && C::inputWidth % C::strideX != 0);
  static constexpr long long count =
      static_cast<long long>(C::images) * height * width;
  long long group;
  const PhaseTaps<C> &taps;

  WindowPlace placeOf(unsigned number) const {
    unsigned line = number / width;
    return placeAt<OutputImages<C>>(
        line / height, static_cast<int>(line % height) + taps.y.firstPixel(),
        static_cast<int>(number % width) + taps.x.firstPixel(), group);
  }
};

template <typename P> class ConvolutionBackwardInput {
  using T = typename P::Element;
  using C = typename P::Convolution;
  using Places = PhasePlaces<C>;
  static constexpr int allTaps = C::windowHeight * C::windowWidth;
  static constexpr int phases = PhaseTaps<C>::phasesY * PhaseTaps<C>::phasesX;

public:
  using Images = OutputImages<C>;
  static constexpr long long rows = static_cast<long long>(C::images) *
                                    C::inputHeight * C::inputWidth,
                             columns = InputImages<C>::pitch;
  ConvolutionBackwardInput(Global<T> gradient, Global<T> weight,
                           unsigned char *shared)
      : place(placeOfBlock<P>()), images(gradient), weight(weight),
        group(place.batch / phases), taps(phase()), table(placesIn<P>(shared)) {
    writePlaces<P>(table, Places{group, taps}, place.row<P>());
  }

  template <typename Tile>
  using CopyA = ElementCopy<Tile, threadsOf<P>, Images, PhaseTaps<C>>;
  template <typename Tile>
  using CopyB = WeightCopy<Tile, threadsOf<P>, C::outputs, C::inputs, allTaps,
                           PhaseTaps<C>>;
  template <typename Tile> CopyA<Tile> copyA() const {
    return {images, table, taps, place.depth<P>()};
  }
  template <typename Tile> CopyB<Tile> copyB() const {
    return {weight, firstOfWeight(), taps, place.depth<P>(), place.column<P>()};
  }

  long long depth() const {
    return taps.count() * static_cast<long long>(C::outputs);
  }
  T elementA(long long m, long long k) const {
    return elementAt<Images>(images, windowPlace(m), taps.pixel(k / C::outputs),
                             k % C::outputs);
  }
  T elementB(long long k, long long n) const {
    long long row = k % C::outputs * allTaps + taps.weightTap(k / C::outputs);
    return weight.load(firstOfWeight() + row * C::inputs + n);
  }

  WindowPlace windowPlace(long long m) const {
    return Places{group, taps}.placeOf(m);
  }
  const PhaseTaps<C> &windowTaps() const { return taps; }

  bool has(long long m) const {
    if constexpr (!Places::hasGaps)
      return true;
    Pixel to = pixelOf(m);
    return to.y < C::inputHeight && to.x < C::inputWidth;
  }
  long long resultRow(long long m, long long) const {
    Pixel to = pixelOf(m);
    long long image = static_cast<unsigned>(m) / Places::width / Places::height;
    return (image * C::inputHeight + to.y) * C::inputWidth + to.x;
  }
  long long resultColumn(long long n) const { return group * P::n + n; }
  long long partialRow() const {
    constexpr int down = ceilDivide(P::m, P::tileM);
    return phase() * down + place.tileRow;
  }

  TilePlace place;
  Global<T> images, weight;

private:
  int phase() const { return static_cast<int>(place.batch % phases); }
  long long firstOfWeight() const {
    return group * C::outputs * allTaps * C::inputs;
  }
  Pixel pixelOf(long long m) const {
    unsigned number = m, line = number / Places::width;
    return {static_cast<int>(line % Places::height) * C::strideY + taps.numberY,
            static_cast<int>(number % Places::width) * C::strideX +
                taps.numberX};
  }

  long long group;
  PhaseTaps<C> taps;
  WindowPlace *table;
};

//===----------------------------------------------------------------------===//
// Gradient of the weight
//===----------------------------------------------------------------------===//

template <typename P> class ConvolutionBackwardWeight {
  using T = typename P::Element;
  using C = typename P::Convolution;
  using Images = InputImages<C>;
  static constexpr long long pitch = C::groups * static_cast<long long>(P::m);
  static constexpr int taps = C::windowHeight * C::windowWidth;

public:
  static constexpr long long rows = pitch * taps, columns = C::inputs;
  ConvolutionBackwardWeight(Global<T> gradient, Global<T> input,
                            unsigned char *)
      : place(placeOfBlock<P>()), gradient(gradient), input(input),
        places{place.batch} {}

  template <typename Tile>
  using CopyA = TileCopy<Tile, threadsOf<P>, P::k, P::m, true, pitch>;
  template <typename Tile>
  using CopyB =
      PlaceCopy<Tile, threadsOf<P>, Images, AllTaps<C>, InputPlaces<C>>;
  template <typename Tile> CopyA<Tile> copyA() const {
    return {gradient, place.batch * P::m, place.depth<P>(), place.row<P>()};
  }
  template <typename Tile> CopyB<Tile> copyB() const {
    return {input, {}, places, place.depth<P>(), place.column<P>()};
  }

  static constexpr long long depth() { return P::k; }
  T elementA(long long m, long long k) const {
    return gradient.load(k * pitch + place.batch * P::m + m);
  }
  T elementB(long long k, long long n) const {
    return elementAt<Images>(input, places.placeOf(k),
                             AllTaps<C>::pixel(n / C::inputs), n % C::inputs);
  }

  static constexpr bool has(long long) { return true; }
  long long resultRow(long long m, long long n) const {
    long long output = place.batch * P::m + m;
    return output * taps + static_cast<unsigned>(n) / C::inputs;
  }
  static long long resultColumn(long long n) {
    return static_cast<unsigned>(n) % C::inputs;
  }
  /// Epilogues have no reductions down columns here.
  static constexpr long long partialRow() { return 0; }

  TilePlace place;

private:
  Global<T> gradient, input;
  InputPlaces<C> places;
};

} // namespace mp
