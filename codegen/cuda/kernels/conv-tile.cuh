//===- conv-tile.cuh - tiles of images under a window ---------------------===//
//
// A convolution's operand is a matrix that is not in memory: its rows are the
// places of a window, its columns the elements under it. These copies find each
// element in the images; what lies in the padding becomes zero.
//
// Images I are a struct of constants:
//
//   long long height, width
//   long long pitch                    elements between neighbouring pixels
//   long long channels                 of a pixel that the window sees
//
// Elements of a window are numbered tap by tap, a tap being a pixel under it,
// with all channels of each.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "gemm-tile.cuh"

namespace mp {

/// A pixel, or a distance between two.
struct Pixel {
  int y, x;
};

/// A place of a window: the pixel of its first tap, and where the window's
/// first channel of it would lie if it is in the padding.
struct WindowPlace {
  long long index;
  Pixel first;
};

template <typename I> constexpr bool isInImage(int y, int x) {
  return static_cast<unsigned>(y) < I::height &&
         static_cast<unsigned>(x) < I::width;
}

/// Returns the distance of two pixels in memory.
template <typename I> constexpr long long distanceOf(Pixel pixel) {
  return (pixel.y * I::width + pixel.x) * I::pitch;
}

/// The same distance in one register, unless images are too large.
template <typename I> constexpr auto inRegister(long long distance) {
  if constexpr (I::height * I::width * I::pitch <= 0x7fffffff)
    return static_cast<int>(distance);
  else
    return distance;
}

/// The copy of tiles whose rows are places of the window and whose columns are
/// its elements, from left to right. Taps has `count()` of taps and
/// `pixel(tap)` from the first.
template <typename Tile, int Threads, typename I, typename Taps>
class ElementCopy {
  using T = typename Tile::Element;
  using Share = TileShare<Tile, Threads, widestOf<I::channels>(Tile::inChunk)>;

public:
  /// `places` are those of a tile, in shared memory; `element` is the first
  /// tile's first column.
  ElementCopy(Global<T> source, const WindowPlace *places, const Taps &taps,
              int element)
      : source(source), places(places + Share::row()), taps(taps),
        place(Share::first()), element(element + Share::column()) {}

  void start(T *tile) {
    const int tap = element / static_cast<unsigned>(I::channels);
    const bool exists = tap < taps.count();
    const Pixel by = taps.pixel(tap);
    const long long further =
        distanceOf<I>(by) + element - static_cast<long long>(tap) * I::channels;
    Share::start(
        tile, place, source,
        [&](int i) { return places[i * Share::apart].index + further; },
        [&](int i) {
          Pixel first = places[i * Share::apart].first;
          return exists && isInImage<I>(first.y + by.y, first.x + by.x);
        });
    element += Tile::columns;
  }

private:
  Global<T> source;
  const WindowPlace *places;
  Taps taps;
  int place;
  unsigned element; ///< of this thread's first
};

/// The copy of tiles whose rows are places of the window, downwards, and whose
/// columns are its elements. Places P are a type with `count` of them, and
/// `placeOf(number)` in the images.
template <typename Tile, int Threads, typename I, typename Taps,
          typename Places>
class PlaceCopy {
  using T = typename Tile::Element;
  // To find a place takes registers.
  using Share =
      TileShare<Tile, Threads, widestOf<I::channels>(Tile::inChunk), 4>;

public:
  /// `number` is the first tile's first place, `element` its first column.
  PlaceCopy(Global<T> source, const Taps &taps, const Places &places,
            int number, int element)
      : source(source), places(places), place(Share::first()),
        number(number + Share::row()) {
    element += Share::column();
    const int tap = element / static_cast<int>(I::channels);
    exists = tap < taps.count();
    by = taps.pixel(tap);
    further = inRegister<I>(distanceOf<I>(by) + element - tap * I::channels);
  }

  void start(T *tile) {
    // Only one of the two is needed of each; the compiler sees that.
    Share::start(
        tile, place, source,
        [&](int i) {
          return places.placeOf(number + i * Share::apart).index + further;
        },
        [&](int i) {
          const unsigned at = number + i * Share::apart;
          Pixel first = places.placeOf(at).first;
          return exists && at < Places::count &&
                 isInImage<I>(first.y + by.y, first.x + by.x);
        });
    number += Tile::rows;
  }

private:
  Global<T> source;
  Places places;
  int place;
  unsigned number; ///< of this thread's first place
  bool exists;     ///< this thread's columns
  Pixel by;
  decltype(inRegister<I>(0)) further;
};

/// The copy of tiles of a weight whose rows are (tap, output channel),
/// downwards, and whose columns are a group's input channels. Taps has
/// `count()`, and `weightTap(tap)` of all taps of the weight, All.
template <typename Tile, int Threads, int Outputs, int Inputs, int All,
          typename Taps>
class WeightCopy {
  using T = typename Tile::Element;
  using Share = TileShare<Tile, Threads, widestOf<Inputs>(Tile::inChunk)>;

public:
  /// `first` is the index of the group's first element; `row` and `column` are
  /// where its first tile begins.
  WeightCopy(Global<T> source, long long first, const Taps &taps, int row,
             int column)
      : source(source), taps(taps), place(Share::first()),
        row(row + Share::row()), first(first + column + Share::column()),
        exists(column + Share::column() < Inputs) {}

  void start(T *tile) {
    Share::start(
        tile, place, source,
        [&](int i) {
          const unsigned at = row + i * Share::apart;
          const int tap = at / static_cast<unsigned>(Outputs);
          const long long output = at - tap * static_cast<long long>(Outputs);
          return first + (output * All + taps.weightTap(tap)) * Inputs;
        },
        [&](int i) {
          const unsigned at = row + i * Share::apart;
          return exists &&
                 static_cast<int>(at / static_cast<unsigned>(Outputs)) <
                     taps.count();
        });
    row += Tile::rows;
  }

private:
  Global<T> source;
  Taps taps;
  int place;
  unsigned row; ///< of this thread's first
  long long first;
  bool exists; ///< this thread's columns
};

} // namespace mp
