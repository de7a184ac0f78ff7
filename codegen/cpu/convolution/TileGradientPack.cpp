//===- TileGradientPack.cpp - operands of gradients of weights ------------===//
#include "codegen/cpu/convolution/TileCode.h"
#include "codegen/cpu/convolution/TileGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

constexpr int64_t kSide = MatrixTiles::side;

TileGradientPlan::TileGradientPlan(const SlidingProduct &product, TileUnit unit)
    : unit(unit) {
  columns = PaddedAxis(product.columns, product.columns.places);
  bool joined = columns.dilation == 1;
  runs = {joined ? 1 : product.columns.taps,
          joined ? product.columns.taps * product.in : product.in, 0};
  runTiles = runs.count * tilesOfRun();
  // Tiles of sums, and one of each operand, whole and the rest of a row.
  int64_t most = MatrixTiles::atOnce(unit);
  tilesAtOnce = divideCeil(tilesOfRun(), divideCeil(tilesOfRun(), most));
  constexpr int64_t fewRows = 6, mostRows = 24; // of sums, in registers
  areRunsRows = unit == TileUnit::DotProducts && runs.length >= fewRows &&
                runs.length <= mostRows &&
                4 * runs.length < 3 * kSide * tilesOfRun();
  channelTiles = divideCeil(product.out, kSide);
  gradientPitch = llvm::alignTo(product.columns.places, kSide);

  constexpr int64_t mostParts = 16, mostBytes = 8 << 20;
  pairs = divideCeil(product.images, 2);
  parts = 1;
  parts = std::clamp<int64_t>(mostBytes / (4 * sumsCount(product)), 1,
                              std::min(mostParts, pairs));
  int64_t blocks = std::clamp<int64_t>(mostParts / (parts * product.groups), 1,
                                       divideCeil(channelTiles, int64_t(4)));
  channelTilesInItem = divideCeil(channelTiles, blocks);

  constexpr int64_t cached = 768 << 10;
  pairsAtOnce = 1;
  setRows(product, product.rows.places);
  while (rowsAtOnce > 1 && scratchBytes(product) > cached)
    setRows(product, (rowsAtOnce + 1) / 2);
  if (rowsAtOnce == product.rows.places)
    pairsAtOnce = std::clamp<int64_t>(cached / scratchBytes(product), 1,
                                      divideCeil(pairs, parts));
}

void PairPacker::findImages(Value pair) {
  images[0] = b.mul(pair, 2);
  images[1] = b.min(b.add(images[0], 1), product.images - 1);
  if (product.images % 2 == 0)
    return;
  Value isThere = b.isBelow(images[0], images[1]);
  hasSecond = vector::BroadcastOp::create(
      b, VectorType::get({kSide}, b.getI1Type()), isThere);
}

/// 16 elements of each image, in pairs, as words of 32 bits.
Value PairPacker::loadPairs(const FlatMemory &memory, const Value (&at)[2],
                            Value mask) {
  Value second = mask;
  if (hasSecond)
    second =
        mask ? Value(arith::AndIOp::create(b, mask, hasSecond)) : hasSecond;
  Value words = interleave(b, b.load(memory, at[0], kSide, mask),
                           b.load(memory, at[1], kSide, second));
  return vector::BitCastOp::create(b, VectorType::get({kSide}, b.getI32Type()),
                                   words);
}

void PairPacker::packSource(Value group, Value first, Value to) {
  int64_t size = product.sourceCount() / product.images;
  auto load = [&](Value at, Value mask) {
    return loadPairs(
        b.argument(0),
        {b.add(b.mul(images[0], size), at), b.add(b.mul(images[1], size), at)},
        mask);
  };
  PaddedCopy copy{.product = product,
                  .rows = plan.rows,
                  .columns = plan.columns,
                  .channels = product.in,
                  .lanes = kSide,
                  .scratch = source,
                  .load = load};
  Value row = b.add(b.mul(first, product.rows.step), product.rows.first);
  copy.emit(b, group, row, to);
}

void PairPacker::packGradient(Value group, Value firstTile, Value channelTiles,
                              Value first, Value rows, Value to) {
  b.forEach(b.index(0), rows, 1, [&](Value row) {
    b.forEach(b.index(0), channelTiles, 1, [&](Value tile) {
      Value line = b.add(b.mul(row, plan.channelTilesInItem * kSide),
                         b.mul(tile, kSide));
      Value from = b.add(b.mul(line, plan.gradientPitch), to);
      Value inGroup = b.add(firstTile, tile), inImage = b.add(first, row);
      if (plan.areRunsRows)
        return b.forEach(product.columns.places, [&](Value column) {
          b.store(loadPlace(group, inGroup, inImage, column), gradient,
                  b.add(from, b.mul(column, kSide)));
        });
      b.forEach(b.index(0), b.index(product.columns.places), kSide,
                [&](Value column) {
                  packSquare(group, inGroup, inImage, column,
                             b.add(from, column));
                });
    });
  });
}

/// The channels of a tile at a place of a row.
Value PairPacker::loadPlace(Value group, Value tile, Value row, Value place) {
  Value channel = b.mul(tile, kSide);
  Value mask = b.maskFor(channel, product.out, kSide, kSide);
  channel = b.add(channel, b.mul(group, product.out));
  Value at[2];
  for (auto [image, at] : llvm::zip(images, at)) {
    at = b.add(b.mul(image, product.rows.places), row);
    at = b.add(b.mul(at, product.columns.places), place);
    at = b.add(b.mul(at, product.groups * product.out), channel);
  }
  return loadPairs(b.argument(1), at, mask);
}

void PairPacker::packSquare(Value group, Value tile, Value row, Value column,
                            Value to) {
  SmallVector<Value> lines;
  for (int64_t i = 0; i < kSide; ++i) {
    // Places past the last are of no use to any tile.
    Value place = b.min(b.add(column, i), product.columns.places - 1);
    lines.push_back(loadPlace(group, tile, row, place));
  }
  b.transposeSquare(lines);
  for (int64_t i = 0; i < kSide; ++i)
    b.store(lines[i], gradient, b.add(to, i * plan.gradientPitch));
}
