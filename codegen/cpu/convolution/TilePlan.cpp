//===- TilePlan.cpp - how tiles cover a convolution -----------------------===//
#include "codegen/cpu/convolution/TilePlan.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

std::optional<TileUnit> mp::cpu::tileUnitFor(const SlidingProduct &product,
                                             Type source, Type weight,
                                             const Target &target) {
  bool depthwise = product.groups > 1 && product.in == 1 && product.out == 1;
  bool isPossible = source.isBF16() && weight.isBF16() && !depthwise &&
                    product.resultCount() && product.sourceCount() &&
                    product.taps();
  return isPossible ? tileUnitOf(target) : std::nullopt;
}

PaddedAxis::PaddedAxis(const SlideAxis &axis, int64_t places) {
  if (axis.taps == 1) {
    size = places;
    distance = axis.step;
  } else {
    size = axis.source(places - 1, axis.taps - 1) - axis.source(0, 0) + 1;
    step = axis.step;
    dilation = axis.dilation;
  }
  auto firstAtLeast = [&](int64_t bound) {
    return std::clamp<int64_t>(
        divideCeil(std::max<int64_t>(bound - axis.first, 0), distance), 0,
        size);
  };
  begin = firstAtLeast(0);
  end = firstAtLeast(axis.size);
}

TilePlan::TilePlan(const SlidingProduct &product, unsigned workers,
                   TileUnit unit)
    : unit(unit) {
  channels = llvm::alignTo(product.in, 2);
  columns = PaddedAxis(product.columns, product.columns.places);
  bool joined = columns.dilation == 1;
  runs = {joined ? 1 : product.columns.taps,
          joined ? product.columns.taps * channels : channels, 0};
  runs.depth = MatrixTiles::depthOf(unit, runs.length);
  // Places that a tile reads together must not all be in the same few sets of
  // the first-level cache.
  constexpr int64_t pageOfSets = 2048, line = 32; // elements
  bool meets = (columns.step * channels) % (pageOfSets / 2) == 0;
  bool isApart = product.columns.taps == 1 || !joined;
  pitch = channels + (meets && isApart ? line : 0);
  chooseRegisters(product);
  chooseItem(product, workers);
}

void TilePlan::chooseRegisters(const SlidingProduct &product) {
  panels = divideCeil(product.out, MatrixTiles::side);
  // Tile registers of the rest have another shape, and are others: with them,
  // eight hold a block of four sums, or of two by two without.
  bool oneShape = !runs.steps() || !runs.rest();
  int64_t atOnce = MatrixTiles::atOnce(unit);
  tilesN = panels > 1 && oneShape ? divideCeil(atOnce, 2) : 1;
  tilesM = atOnce / tilesN;
  panels = llvm::alignTo(panels, tilesN);
  if (unit == TileUnit::DotProducts)
    choosePlaces(product);
}

void TilePlan::choosePlaces(const SlidingProduct &product) {
  int64_t row = product.columns.places, most = MatrixTiles::side;
  // Tiles of one row leave out what the padding above and below would add, and
  // several panels beside each other make up for short rows.
  if (product.rows.taps > 1 && !product.rows.isInside() && row <= most / 2) {
    int64_t beside = most / row;
    while (panels % beside != 0)
      --beside;
    constexpr int64_t enough = 12; // sums that hide the latency of each
    if (beside * row >= enough) {
      tilesN = beside;
      places = row;
      return;
    }
  }
  rowsOfTile = std::clamp<int64_t>(most / row, 1, product.rows.places);
  places =
      row > most ? divideCeil(row, divideCeil(row, most)) : rowsOfTile * row;
}

void TilePlan::setRows(const SlidingProduct &product, int64_t count) {
  rowsInItem = count;
  rows = PaddedAxis(product.rows, count);
  acrossRows =
      unit == TileUnit::Registers && rows.step == 1 && columns.step == 1;
  skipsRows = unit == TileUnit::DotProducts && rowsOfTile == 1 &&
              product.rows.taps > 1 && !product.rows.isInside();
  sumsPitch = acrossRows
                  ? columns.size
                  : llvm::alignTo(product.columns.places, places / rowsOfTile);
  constexpr int64_t sums = 8192; // f32 in the first-level cache
  int64_t most = sums / (sumsPitch * blockColumns());
  rowsAtOnce = std::clamp<int64_t>(most / rowsOfTile * rowsOfTile, 1, count);
}

void TilePlan::chooseItem(const SlidingProduct &product, unsigned workers) {
  constexpr int64_t cached = 512 << 10, enough = int64_t(1) << 25;
  imagesInItem = 1;
  int64_t most = product.rows.places;
  setRows(product, most);
  auto bytes = [&] { return 2 * imagesInItem * imageStride(); };
  while (rowsInItem > 1 && bytes() > cached)
    setRows(product, (rowsInItem + 1) / 2);

  // There are a few items for each worker, but none too small to be worth it.
  int64_t wanted = 4 * int64_t(workers);
  int64_t flopsOfRow = std::max<int64_t>(
      product.flops() / (product.images * product.groups * most), 1);
  int64_t others = product.images * product.groups;
  while (rowsInItem > 1 && flopsOfRow * rowsInItem > enough &&
         others * divideCeil(most, rowsInItem) < wanted)
    setRows(product, (rowsInItem + 1) / 2);
  // Images that share the panels of the weight.
  int64_t shared = std::max<int64_t>(others / wanted, 1);
  if (rowsInItem == most)
    imagesInItem = std::clamp<int64_t>(cached / std::max<int64_t>(bytes(), 1),
                                       1, std::min(shared, product.images));
  int64_t items = imageBlocks(product) * rowBlocks(product) * product.groups;
  int64_t blocks = panels / tilesN;
  int64_t split = std::clamp<int64_t>(wanted / items, 1, blocks);
  panelsInItem = divideCeil(blocks, split) * tilesN;
}
