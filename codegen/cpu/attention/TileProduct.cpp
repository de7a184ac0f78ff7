//===- TileProduct.cpp - matrix products in scratch -----------------------===//
#include "codegen/cpu/attention/TileProduct.h"

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
  int64_t needed = (columns + lanes - 1) / lanes;
  int64_t most = rows.size(), panels = (needed + most - 1) / most;
  int64_t vectors = (needed + panels - 1) / panels;
  return {lanes, vectors, rows[vectors - 1]};
}

void TileProduct::emit(LoopBuilder &b_) const {
  LoopBuilder &builder = b_;
  int64_t lanes = tile.lanes;
  auto emitTile = [&](Value j, Value i) {
    Value fromB = builder.add(b.at, builder.mul(j, b.panel));
    Value fromA = builder.add(a.at, builder.mul(i, a.row));
    Value toC = builder.add(builder.add(c.at, builder.mul(i, c.row)),
                            builder.mul(j, tile.panelColumns()));
    auto placeC = [&](int64_t r, int64_t v) {
      return builder.add(toC, r * c.row + v * lanes);
    };
    SmallVector<Value> start;
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t v = 0; v < tile.vectors; ++v)
        start.push_back(adds ? builder.load(c.memory, placeC(r, v), lanes)
                             : builder.zero(c.memory.element, lanes));
    auto sums = builder.fold(
        builder.index(0), depth, start,
        [&](Value p, ValueRange before) -> SmallVector<Value> {
          Value rowB = builder.add(fromB, builder.mul(p, b.row));
          Value columnA = builder.add(fromA, builder.mul(p, a.step));
          SmallVector<Value> vectors, next;
          for (int64_t v = 0; v < tile.vectors; ++v)
            vectors.push_back(
                builder.load(b.memory, builder.add(rowB, v * lanes), lanes));
          for (int64_t r = 0; r < tile.rows; ++r) {
            Value element = builder.loadSplat(
                a.memory, builder.add(columnA, r * a.row), lanes);
            for (int64_t v = 0; v < tile.vectors; ++v) {
              Value sum = before[r * tile.vectors + v];
              next.push_back(fused ? Value(math::FmaOp::create(builder, element,
                                                               vectors[v], sum))
                                   : Value(arith::AddFOp::create(
                                         builder, sum,
                                         arith::MulFOp::create(builder, element,
                                                               vectors[v]))));
            }
          }
          return next;
        });
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t v = 0; v < tile.vectors; ++v)
        builder.store(sums[r * tile.vectors + v], c.memory, placeC(r, v));
  };
  builder.forEach(builder.index(0), panels, 1, [&](Value j) {
    builder.forEach(builder.index(0), rows, tile.rows,
                    [&](Value i) { emitTile(j, i); });
  });
}
