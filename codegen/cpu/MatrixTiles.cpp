//===- MatrixTiles.cpp - products of pairs of bf16 ------------------------===//
#include "codegen/cpu/MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

/// Intel's dot products take twice as long as a multiply-add of f32 does
/// (measured on Emerald Rapids), so that widening is as fast; AMD's take as
/// long (on Zen 4 and 5).
std::optional<TileUnit> mp::cpu::tileUnitOf(const Target &target) {
  if (target.has("amx-tile") && target.has("amx-bf16"))
    return TileUnit::Registers;
  if (target.has("avx512bf16") && StringRef(target.cpu).starts_with("znver"))
    return TileUnit::DotProducts;
  return std::nullopt;
}

static int64_t elementsOfPair(const FlatMemory &memory) {
  return 32 / memory.element.getIntOrFloatBitWidth();
}
static Value toBf16(LoopBuilder &b, Value pairs) {
  return LLVM::BitcastOp::create(
      b, VectorType::get({2 * MatrixTiles::side}, b.getBF16Type()), pairs);
}

Value mp::cpu::addDotProducts(LoopBuilder &b, Value sums, Value x, Value y) {
  return LLVM::CallIntrinsicOp::create(
             b, sums.getType(),
             b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
             ValueRange{sums, toBf16(b, x), toBf16(b, y)})
      .getResult(0);
}

Value mp::cpu::loadPairs(LoopBuilder &b, const FlatMemory &memory, Value at,
                         int64_t count) {
  Value words = b.load(memory, at, count * elementsOfPair(memory));
  return vector::BitCastOp::create(b, VectorType::get({count}, b.getI32Type()),
                                   words);
}

Value mp::cpu::splatPair(LoopBuilder &b, const FlatMemory &memory, Value at) {
  Value one = vector::ExtractOp::create(b, loadPairs(b, memory, at, 1), 0);
  return vector::BroadcastOp::create(
      b, VectorType::get({MatrixTiles::side}, b.getI32Type()), one);
}

Value mp::cpu::interleave(LoopBuilder &b, Value even, Value odd) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < MatrixTiles::side; ++i)
    order.append({i, MatrixTiles::side + i});
  return vector::ShuffleOp::create(b, even, odd, order);
}

void mp::cpu::transposePairs(LoopBuilder &b, MutableArrayRef<Value> lines) {
  Type words = lines.front().getType();
  auto pairs = VectorType::get({MatrixTiles::side}, b.getI32Type());
  for (Value &line : lines)
    line = vector::BitCastOp::create(b, pairs, line);
  b.transposeSquare(lines);
  for (Value &line : lines)
    line = vector::BitCastOp::create(b, words, line);
}

namespace {

//===----------------------------------------------------------------------===//
// Tile registers
//===----------------------------------------------------------------------===//

/// There are eight, and each has one shape in all of a function: shapes are
/// constants, and few.
class TileRegisters final : public MatrixTiles {
public:
  explicit TileRegisters(LoopBuilder &b) : MatrixTiles(b) {}

  Block zeros(int64_t tiles, int64_t) override {
    Block block(tiles);
    for (Value &tile : block)
      tile = call("llvm.x86.tilezero.internal", {count(side), count(rowBytes)});
    return block;
  }

  Block load(ArrayRef<Place> tiles) override {
    Block block;
    for (const Place &tile : tiles)
      block.push_back(load(tile, side, rowBytes));
    return block;
  }

  void store(ValueRange block, ArrayRef<Place> tiles) override {
    for (auto [tile, place] : llvm::zip_equal(block, tiles)) {
      auto [address, distance] = addressOf(place);
      LLVM::CallIntrinsicOp::create(
          b, b.getStringAttr("llvm.x86.tilestored64.internal"),
          ValueRange{count(side), count(rowBytes), address, distance, tile});
    }
  }

  Block multiplyAdd(ValueRange block, ArrayRef<Place> rows,
                    ArrayRef<Place> columns, int64_t k) override {
    Block next(block), tilesOfB(columns.size());
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value tileOfA = load(row, side, 2 * k);
      for (auto [j, tileOfB] : llvm::enumerate(tilesOfB)) {
        // A tile of B takes a register from its first use on.
        if (i == 0)
          tileOfB = load(columns[j], k / 2, rowBytes);
        Value &sum = next[i * columns.size() + j];
        sum = call("llvm.x86.tdpbf16ps.internal",
                   {count(side), count(rowBytes), count(2 * k), sum, tileOfA,
                    tileOfB});
      }
    }
    return next;
  }

private:
  static constexpr int64_t rowBytes = 64; ///< of a whole row

  Value call(StringRef intrinsic, ValueRange operands) {
    auto type = LLVM::LLVMX86AMXType::get(b.getContext());
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(intrinsic),
                                         operands)
        .getResult(0);
  }

  Value count(int64_t value) {
    return arith::ConstantOp::create(b, b.getI16IntegerAttr(value));
  }

  Value load(const Place &place, int64_t rows, int64_t bytes) {
    auto [address, distance] = addressOf(place);
    return call("llvm.x86.tileloadd64.internal",
                {count(rows), count(bytes), address, distance});
  }

  /// The address of a tile, and the bytes between its rows.
  std::pair<Value, Value> addressOf(const Place &place) {
    int64_t bytes = place.memory.element.getIntOrFloatBitWidth() / 8;
    auto toI64 = [&](Value x) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(), x);
    };
    Value base =
        memref::ExtractAlignedPointerAsIndexOp::create(b, place.memory.memref);
    Value address = toI64(b.add(base, b.mul(place.at, bytes)));
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    return {LLVM::IntToPtrOp::create(b, pointer, address),
            toI64(b.index(place.pitch * bytes))};
  }
};

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

/// A tile of C is a vector for each row of A. Each pair of a row is multiplied
/// by all columns of B at once.
class DotProducts final : public MatrixTiles {
public:
  explicit DotProducts(LoopBuilder &b) : MatrixTiles(b) {}

  Block zeros(int64_t tiles, int64_t rows) override {
    return Block(tiles * rows, b.zero(b.getF32Type(), side));
  }

  Block load(ArrayRef<Place> tiles) override {
    Block block;
    for (const Place &tile : tiles)
      for (int64_t row = 0; row < tile.rows; ++row)
        block.push_back(b.load(tile.memory, rowOf(tile, row), side));
    return block;
  }

  void store(ValueRange block, ArrayRef<Place> tiles) override {
    auto sums = block.begin();
    for (const Place &tile : tiles)
      for (int64_t row = 0; row < tile.rows; ++row)
        b.store(*sums++, tile.memory, rowOf(tile, row));
  }

  Block multiplyAdd(ValueRange block, ArrayRef<Place> rows,
                    ArrayRef<Place> columns, int64_t k) override {
    constexpr int64_t written = 4; // pairs in the body of a loop
    int64_t pairs = k / 2, rounds = pairs / written;
    auto add = [&](Value first, int64_t count, ValueRange before) {
      Block next(before);
      for (int64_t pair = 0; pair < count; ++pair)
        addPair(next, rows, columns, b.add(first, pair));
      return next;
    };
    Block next(block);
    if (rounds > 1)
      next = b.fold(b.index(0), b.index(rounds), next,
                    [&](Value round, ValueRange before) {
                      return add(b.mul(round, written), written, before);
                    });
    int64_t done = rounds > 1 ? rounds * written : 0;
    return add(b.index(done), pairs - done, next);
  }

private:
  Value rowOf(const Place &tile, int64_t row) {
    return b.add(tile.at,
                 row / tile.run * tile.runPitch + row % tile.run * tile.pitch);
  }

  void addPair(Block &block, ArrayRef<Place> rows, ArrayRef<Place> columns,
               Value pair) {
    Block pairsOfB;
    for (const Place &column : columns)
      pairsOfB.push_back(loadPairs(
          b, column.memory, b.add(column.at, b.mul(pair, column.pitch)), side));
    Value *sum = block.begin();
    for (Place tile : rows) {
      tile.at = b.add(tile.at, b.mul(pair, elementsOfPair(tile.memory)));
      for (Value pairOfB : pairsOfB)
        for (int64_t row = 0; row < tile.rows; ++row, ++sum)
          *sum = addDotProducts(b, *sum, pairOfB,
                                splatPair(b, tile.memory, rowOf(tile, row)));
    }
  }
};

} // namespace

std::unique_ptr<MatrixTiles> MatrixTiles::create(LoopBuilder &b,
                                                 TileUnit unit) {
  if (unit == TileUnit::Registers)
    return std::make_unique<TileRegisters>(b);
  return std::make_unique<DotProducts>(b);
}
