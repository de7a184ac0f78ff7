//===- ConvolutionPlan.cpp - how a convolution is cut up ------------------===//
#include "codegen/cpu/convolution/ConvolutionPlan.h"
#include "codegen/cpu/layout/LayoutBuilder.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// The cycles of a tile for one tap and channel, with two fmas or loads in each
/// and no sum more often than every four.
static double cyclesOf(RegisterTile tile) {
  return std::max({tile.width * tile.vectors / 2.0,
                   (tile.width + tile.vectors) / 2.0, 4.0});
}

RegisterTile mp::cpu::chooseRegisterTile(const Target &target, int64_t places,
                                         int64_t channels, int64_t lanes,
                                         int64_t atMost) {
  // One register is for an element of the source where it is no operand of an
  // fma in memory, and one is left.
  int64_t registers = target.has("avx512f") ? 31 : 15;
  RegisterTile best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    int64_t panels = divideCeil(channels, vectors * lanes);
    if (panels * vectors > divideCeil(channels, lanes) + vectors - 1)
      continue;
    int64_t most =
        std::min<int64_t>({(registers - vectors) / vectors, 16, atMost});
    for (int64_t width = std::min(most, places); width >= 1; --width) {
      int64_t tiles = divideCeil(places, width);
      // Beginning and ending a tile costs about half a step more.
      double cycles = double(tiles) * panels *
                      (cyclesOf({divideCeil(places, tiles), vectors}) + 0.5);
      if (cycles >= least)
        continue;
      least = cycles;
      best = {width, vectors};
    }
  }
  return best;
}

/// Returns which taps the places of a tile have a source for.
static SmallVector<TileRun::Taps> tapsOf(const SlideAxis &axis, int64_t first,
                                         int64_t width) {
  SmallVector<TileRun::Taps> taps;
  auto isInside = [&](int64_t place, int64_t tap) {
    int64_t at = axis.source(first + place, tap);
    return at >= 0 && at < axis.size;
  };
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    int64_t begin = 0, end = width;
    while (begin < end && !isInside(begin, tap))
      ++begin;
    while (end > begin && !isInside(end - 1, tap))
      --end;
    if (begin == end)
      continue;
    bool continues = !taps.empty() && taps.back().begin == begin &&
                     taps.back().end == end &&
                     taps.back().first + taps.back().count == tap;
    if (continues)
      ++taps.back().count;
    else
      taps.push_back({tap, 1, begin, end});
  }
  return taps;
}

static bool alike(ArrayRef<TileRun::Taps> x, ArrayRef<TileRun::Taps> y) {
  return llvm::equal(x, y, [](const auto &a, const auto &b) {
    return a.first == b.first && a.count == b.count && a.begin == b.begin &&
           a.end == b.end;
  });
}

SmallVector<TileRun> mp::cpu::tilesOf(const SlideAxis &axis, int64_t width) {
  SmallVector<TileRun> runs;
  int64_t tiles = divideCeil(axis.places, width);
  int64_t narrow = axis.places / tiles, wider = axis.places % tiles;
  for (int64_t tile = 0, first = 0; tile < tiles; ++tile) {
    int64_t size = narrow + (tile < wider);
    SmallVector<TileRun::Taps> taps = tapsOf(axis, first, size);
    if (!runs.empty() && runs.back().width == size &&
        alike(runs.back().taps, taps))
      ++runs.back().tiles;
    else
      runs.push_back({first, size, 1, std::move(taps)});
    first += size;
  }
  return runs;
}

ConvolutionPlan::ConvolutionPlan(const SlidingProduct &product, Type element,
                                 const Target &target)
    : groups(product.groups), in(product.in), out(product.out),
      depthwise(groups > 1 && in == 1 && out == 1),
      accumulator(computeType(element)), fused(target.has("fma")),
      inPlace(element == accumulator) {
  if (depthwise) {
    out = groups;
    groups = 1;
  }
  lanes = lanesFor(out, accumulatorBytes(), target.vectorBytes());
}

int64_t ConvolutionPlan::placesAtOnce(int64_t distance) const {
  constexpr int64_t ways = 8, bytesOfWay = 4096, line = 64;
  int64_t apart =
      std::max(std::gcd(distance * accumulatorBytes(), bytesOfWay), line);
  return std::max(ways * (bytesOfWay / apart) - 1, int64_t(1));
}
