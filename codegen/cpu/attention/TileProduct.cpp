//===- TileProduct.cpp - matrix products in scratch -----------------------===//
#include "codegen/cpu/attention/TileProduct.h"
#include "codegen/cpu/MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp::cpu;

TileShape TileShape::of(const Target &target, int64_t columns,
                        int64_t accumulatorBytes) {
  // Rows by number of vectors: sums, a row of B and an element of A fill the
  // registers, and all numbers of rows divide 48.
  static constexpr int64_t many[] = {12, 12, 8, 6}, few[] = {12, 6};
  bool hasMany = target.has("avx512f");
  ArrayRef<int64_t> rows = hasMany ? ArrayRef(many) : ArrayRef(few);
  int64_t lanes = target.vectorBytes() / accumulatorBytes;
  int64_t needed = std::max<int64_t>((columns + lanes - 1) / lanes, 1);
  int64_t most = rows.size(), panels = (needed + most - 1) / most;
  int64_t vectors = (needed + panels - 1) / panels;
  return {lanes, vectors, rows[vectors - 1]};
}

SmallVector<Value> TileProduct::addTerm(LoopBuilder &b, Value fromA,
                                        Value fromB, ValueRange before) const {
  int64_t lanes = tile.lanes, apart = isPaired() ? 2 * lanes : lanes;
  SmallVector<Value> vectors, next;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Value at = b.add(fromB, v * apart);
    vectors.push_back(isPaired() ? loadPairs(b, right.memory, at, lanes)
                                 : b.load(right.memory, at, lanes));
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value at = b.add(fromA, r * a.row);
    Value element = isPaired() ? splatPair(b, a.memory, at)
                               : b.loadSplat(a.memory, at, lanes);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value sum = before[r * tile.vectors + v];
      if (isPaired())
        sum = addDotProducts(b, sum, vectors[v], element);
      else if (fused)
        sum = math::FmaOp::create(b, element, vectors[v], sum);
      else
        sum = arith::AddFOp::create(
            b, sum, arith::MulFOp::create(b, element, vectors[v]));
      next.push_back(sum);
    }
  }
  return next;
}

void TileProduct::emitTile(LoopBuilder &b, Value panel, Value row) const {
  Value fromA = b.add(a.at, b.mul(row, a.row));
  Value fromB = b.add(right.at, b.mul(panel, right.panel));
  Value toC =
      b.add(b.add(c.at, b.mul(row, c.row)), b.mul(panel, tile.panelColumns()));
  SmallVector<Value> places, start;
  for (int64_t r = 0; r < tile.rows; ++r)
    for (int64_t v = 0; v < tile.vectors; ++v) {
      places.push_back(b.add(toC, r * c.row + v * tile.lanes));
      start.push_back(adds ? b.load(c.memory, places.back(), tile.lanes)
                           : b.zero(c.memory.element, tile.lanes));
    }
  auto sums =
      b.fold(b.index(0), depth, start, [&](Value term, ValueRange before) {
        return addTerm(b, b.add(fromA, b.mul(term, a.step)),
                       b.add(fromB, b.mul(term, right.row)), before);
      });
  for (auto [sum, place] : llvm::zip_equal(sums, places))
    b.store(sum, c.memory, place);
}

void TileProduct::emit(LoopBuilder &b) const {
  b.forEach(b.index(0), panels, 1, [&](Value panel) {
    b.forEach(b.index(0), rows, tile.rows,
              [&](Value row) { emitTile(b, panel, row); });
  });
}
