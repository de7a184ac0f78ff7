//===- TileContraction.cpp - products of bf16 in tile registers -----------===//
#include "codegen/cpu/contraction/TileContraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;
using llvm::divideCeil;

constexpr int64_t kSide = MatrixTiles::side, kDepth = MatrixTiles::depth;

bool mp::cpu::isForTiles(const ContractionSpec &spec, const Target &target) {
  return spec.a.isBF16() && spec.b.isBF16() && isa<FloatType>(spec.c) &&
         MatrixTiles::isIn(target);
}

int64_t TileContractionPlan::rowBlocks() const {
  return divideCeil(rowTiles, rowsInItem);
}
int64_t TileContractionPlan::columnBlocks() const {
  return divideCeil(columnTiles, columnsInItem);
}

TileContractionPlan::TileContractionPlan(const ContractionSpec &spec,
                                         unsigned workers)
    : batch(1), m(spec.m), n(spec.n), k(spec.k) {
  for (int64_t size : spec.batch)
    batch *= size;
  if (spec.broadcastB && !spec.broadcastA && !spec.transposeA) {
    m *= batch;
    batch = 1;
  }
  matricesA = spec.broadcastA ? 1 : batch;
  matricesB = spec.broadcastB ? 1 : batch;
  rowTiles = divideCeil(m, kSide);
  columnTiles = divideCeil(n, kSide);
  tilesM = rowTiles == 1 ? 1 : columnTiles == 1 ? 4 : 2;
  tilesN = 4 / tilesM;
  rowTiles = llvm::alignTo(rowTiles, tilesM);
  columnTiles = llvm::alignTo(columnTiles, tilesN);
  steps = divideCeil(k, kDepth);
  // Rows that are 4 KiB apart would share their lines of the first-level cache.
  inPlaceA = !spec.transposeA && m % (tilesM * kSide) == 0 && k % kDepth == 0 &&
             2 * k % 4096 != 0;
  constexpr int64_t stepsInPart = 8; // 16 KiB of B by two tiles of columns
  parts = divideCeil(steps, stepsInPart);

  // Blocks whose rows of A stay in the second-level cache, a few for each
  // worker.
  constexpr int64_t cached = 1024 << 10;
  int64_t rowBytes = 2 * tileCount * steps;
  rowsInItem = llvm::alignTo(
      std::clamp<int64_t>(cached / rowBytes, tilesM, rowTiles), tilesM);
  columnsInItem = columnTiles;
  auto halve = [](int64_t tiles, int64_t unit) {
    return llvm::alignTo(divideCeil(tiles, 2), unit);
  };
  while (items() < 4 * int64_t(workers)) {
    int64_t rows = halve(rowsInItem, tilesM),
            columns = halve(columnsInItem, tilesN);
    if (columns < columnsInItem && columnsInItem >= rowsInItem)
      columnsInItem = columns;
    else if (rows < rowsInItem)
      rowsInItem = rows;
    else
      break;
  }
}

namespace {

/// Computes blocks of C from packed operands.
class TileMultiplier {
public:
  TileMultiplier(MLIRContext *context, const ContractionSpec &spec,
                 const TileContractionPlan &plan)
      : spec(spec), plan(plan),
        b(context, argumentsOf(context, spec, plan), 4 * plan.sumsCount()),
        tiles(b), c(b.argument(spec.bias ? 3 : 2)) {
    sums = b.scratch(b.getF32Type(), 0, plan.sumsCount());
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  static SmallVector<LoopBuilder::Argument>
  argumentsOf(MLIRContext *context, const ContractionSpec &spec,
              const TileContractionPlan &plan) {
    Type word = IntegerType::get(context, 16);
    SmallVector<LoopBuilder::Argument> arguments{{word, plan.countA()},
                                                 {word, plan.countB()}};
    if (spec.bias)
      arguments.push_back({*spec.bias, plan.n});
    arguments.push_back({spec.c, plan.batch * plan.m * plan.n});
    return arguments;
  }

  void emitItem(Value item) {
    Value block = b.rem(item, plan.rowBlocks() * plan.columnBlocks());
    batch = b.div(item, plan.rowBlocks() * plan.columnBlocks());
    // Neighbouring items share their columns of B.
    firstRow = b.mul(b.rem(block, plan.rowBlocks()), plan.rowsInItem);
    Value lastRow = b.min(b.add(firstRow, plan.rowsInItem), plan.rowTiles);
    Value first = b.mul(b.div(block, plan.rowBlocks()), plan.columnsInItem);
    Value last = b.min(b.add(first, plan.columnsInItem), plan.columnTiles);
    auto forRows = [&](LoopBuilder::Body body) {
      b.forEach(firstRow, lastRow, plan.tilesM, body);
    };
    auto forColumns = [&](LoopBuilder::Body body) {
      b.forEach(first, last, plan.tilesN, body);
    };
    if (plan.rowsFirst())
      return forRows([&](Value row) {
        forColumns([&](Value column) { emitPart(row, column, b.index(0)); });
      });
    forColumns([&](Value column) {
      b.forEach(plan.parts, [&](Value part) {
        forRows([&](Value row) { emitPart(row, column, part); });
      });
    });
  }

  /// Adds a part of k to a block of tilesM x tilesN tiles.
  void emitPart(Value row, Value column, Value part) {
    auto start = [&](Value part) {
      return b.div(b.mul(part, plan.steps), plan.parts);
    };
    Value to = plan.parts == 1
                   ? b.index(0)
                   : b.mul(b.sub(row, firstRow), kSide * plan.sumsPitch());
    auto sumsAt = [&](int64_t slot) {
      return b.add(to, slot / plan.tilesN * kSide * plan.sumsPitch() +
                           slot % plan.tilesN * kSide);
    };
    auto multiply = [&](bool isFirst) {
      SmallVector<Value> block;
      for (int64_t slot = 0; slot < plan.tilesM * plan.tilesN; ++slot)
        block.push_back(
            isFirst ? tiles.zero()
                    : tiles.loadSums(sums, sumsAt(slot), plan.sumsPitch()));
      block = addSteps(row, column, start(part), start(b.add(part, 1)), block);
      for (auto [slot, tile] : llvm::enumerate(block))
        tiles.storeSums(tile, sums, sumsAt(slot), plan.sumsPitch());
    };
    if (plan.parts == 1) {
      multiply(/*isFirst=*/true);
      return finish(row, column, to);
    }
    auto is = [&](int64_t number) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part,
                                   b.index(number));
    };
    b.ifElse(is(0), [&] { multiply(true); }, [&] { multiply(false); });
    b.ifElse(is(plan.parts - 1), [&] { finish(row, column, to); }, [] {});
  }

  SmallVector<Value> addSteps(Value row, Value column, Value first, Value last,
                              ValueRange block) {
    // In its place, A has as many elements in a tile of rows as packed.
    auto tileAt = [&](Value matrix, int64_t tilesOfMatrix, Value tile,
                      int64_t i) {
      Value at = b.add(b.mul(matrix, tilesOfMatrix), b.add(tile, i));
      return b.mul(at, plan.steps * plan.tileCount);
    };
    int64_t pitchA = plan.inPlaceA ? plan.k : kDepth;
    int64_t stepA = plan.inPlaceA ? kDepth : plan.tileCount;
    Value none = b.index(0);
    SmallVector<Value> rows, columns;
    for (int64_t i = 0; i < plan.tilesM; ++i)
      rows.push_back(
          tileAt(plan.matricesA == 1 ? none : batch, plan.rowTiles, row, i));
    for (int64_t i = 0; i < plan.tilesN; ++i)
      columns.push_back(tileAt(plan.matricesB == 1 ? none : batch,
                               plan.columnTiles, column, i));
    return b.fold(first, last, block, [&](Value step, ValueRange before) {
      Value offset = b.mul(step, plan.tileCount);
      SmallVector<Value> next(before), tilesOfB;
      for (Value at : columns)
        tilesOfB.push_back(
            tiles.loadB(b.argument(1), b.add(at, offset), kDepth, kDepth));
      for (auto [i, at] : llvm::enumerate(rows)) {
        Value tileOfA = tiles.loadA(
            b.argument(0), b.add(at, b.mul(step, stepA)), pitchA, kDepth);
        for (auto [j, tileOfB] : llvm::enumerate(tilesOfB)) {
          Value &sum = next[i * plan.tilesN + j];
          sum = tiles.multiplyAdd(sum, tileOfA, tileOfB, kDepth);
        }
      }
      return next;
    });
  }

  /// Applies bias, relu and the one rounding to a block of sums.
  void finish(Value row, Value column, Value from) {
    int64_t lanes = plan.sumsPitch();
    Value first = b.mul(row, kSide);
    Value count = b.min(b.sub(b.index(plan.m), b.min(first, plan.m)),
                        plan.tilesM * kSide);
    Value at = b.mul(column, kSide);
    Value mask = b.maskFor(at, plan.n, lanes, lanes), bias;
    if (spec.bias)
      bias = b.loadAs(b.getF32Type(), b.argument(2), at, lanes, mask);
    Value line = b.add(b.mul(batch, plan.m), first);
    b.forEach(b.index(0), count, 1, [&](Value i) {
      Value total = b.load(sums, b.add(from, b.mul(i, lanes)), lanes);
      if (bias)
        total = arith::AddFOp::create(b, total, bias);
      if (spec.relu)
        total =
            arith::MaximumFOp::create(b, total, b.zero(b.getF32Type(), lanes));
      b.storeAs(total, c, b.add(b.mul(b.add(line, i), plan.n), at), mask);
    });
  }

  const ContractionSpec &spec;
  const TileContractionPlan &plan;
  LoopBuilder b;
  MatrixTiles tiles;
  FlatMemory c, sums;
  Value batch, firstRow; ///< of the work item
};

} // namespace

FailureOr<EmittedKernel>
mp::cpu::emitTileContraction(MLIRContext *context, const ContractionSpec &spec,
                             unsigned workers, ObjectCompiler &compiler) {
  TileContractionPlan plan(spec, workers);
  EmittedKernel kernel;
  auto operands = emitOperandTiles(context, spec, plan, compiler, kernel);
  if (failed(operands))
    return failure();
  FailureOr<std::string> symbol =
      compiler.compile(TileMultiplier(context, spec, plan).take());
  if (failed(symbol))
    return failure();
  KernelLaunch product;
  product.symbol = *symbol;
  product.grid = plan.items();
  product.block = 1;
  product.shared = 4 * plan.sumsCount();
  product.flops = spec.flops();
  product.arguments = {operands->first, operands->second};
  if (spec.bias)
    product.arguments.push_back({KernelArgument::Kind::Operand, 2});
  product.arguments.push_back({KernelArgument::Kind::Result, 0});
  kernel.launches.push_back(std::move(product));
  return kernel;
}
