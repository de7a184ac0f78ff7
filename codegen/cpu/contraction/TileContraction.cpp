//===- TileContraction.cpp - products of bf16 in tiles --------------------===//
#include "codegen/cpu/contraction/TileContraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;
using llvm::divideCeil;

constexpr int64_t kSide = MatrixTiles::side, kDepth = MatrixTiles::depth;

std::optional<TileUnit> mp::cpu::tileUnitFor(const ContractionSpec &spec,
                                             const Target &target) {
  bool isPossible =
      spec.a.isBF16() && spec.b.isBF16() && isa<FloatType>(spec.c);
  return isPossible ? tileUnitOf(target) : std::nullopt;
}

int64_t TileContractionPlan::rowBlocks() const {
  return divideCeil(rowTiles, rowsInItem);
}
int64_t TileContractionPlan::columnBlocks() const {
  return divideCeil(columnTiles, columnsInItem);
}

TileContractionPlan::TileContractionPlan(const ContractionSpec &spec,
                                         unsigned workers, TileUnit unit)
    : unit(unit), batch(1), m(spec.m), n(spec.n), k(spec.k) {
  for (int64_t size : spec.batch)
    batch *= size;
  matricesA = spec.broadcastA ? 1 : batch;
  matricesB = spec.broadcastB ? 1 : batch;
  rowTiles = divideCeil(m, kSide);
  columnTiles = divideCeil(n, kSide);
  int64_t atOnce = MatrixTiles::atOnce(unit);
  tilesM = rowTiles == 1      ? 1
           : columnTiles == 1 ? atOnce
                              : llvm::divideCeil(atOnce, 2);
  tilesN = atOnce / tilesM;
  // Dot products take as many rows as there are: 20 are 10 and 10.
  rowsOfTile =
      unit == TileUnit::DotProducts ? int64_t(divideCeil(m, rowTiles)) : kSide;
  rowTiles = llvm::alignTo(rowTiles, tilesM);
  columnTiles = llvm::alignTo(columnTiles, tilesN);
  steps = divideCeil(k, kDepth);
  // Rows that are 4 KiB apart would share their lines of the first-level cache.
  inPlaceA = !spec.transposeA && m % (tilesM * kSide) == 0 && k % kDepth == 0 &&
             2 * k % 4096 != 0;
  constexpr int64_t mostInPart = 8; // 16 KiB of B by two tiles of columns
  parts = divideCeil(steps, mostInPart);
  chooseItems(spec, workers);
}

void TileContractionPlan::chooseItems(const ContractionSpec &spec,
                                      unsigned workers) {
  // Items that pack share out the columns alone, as all pack the rows.
  constexpr int64_t cachedInItem = 1 << 20;
  rowsInItem = rowTiles;
  columnsInItem =
      llvm::alignTo(divideCeil(columnTiles, int64_t(workers)), tilesN);
  packsA = packsB = true;
  if (spec.transposeA && k >= 8 * std::max(m, n) &&
      scratchBytes() <= cachedInItem)
    return;
  packsA = packsB = false;

  constexpr int64_t large = 32 << 20; // bytes of a copy of A
  packsA = !inPlaceA && parts > 1 && 2 * countA() > large;
  packsA ? chooseBlocksOfParts() : chooseBlocks();
  // A few for each worker.
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

/// Blocks whose rows of A stay in the second-level cache.
void TileContractionPlan::chooseBlocks() {
  constexpr int64_t cached = 1024 << 10;
  int64_t rowBytes = 2 * tileCount * steps;
  rowsInItem = llvm::alignTo(
      std::clamp<int64_t>(cached / rowBytes, tilesM, rowTiles), tilesM);
  columnsInItem = columnTiles;
}

/// Blocks whose sums stay in the second-level cache, with a part of A. Packing
/// an element of A costs little beside its products with this many columns.
void TileContractionPlan::chooseBlocksOfParts() {
  constexpr int64_t cached = 768 << 10, mostColumns = 64;
  int64_t blocks = divideCeil(columnTiles, mostColumns);
  columnsInItem = llvm::alignTo(divideCeil(columnTiles, blocks), tilesN);
  rowsInItem = tilesM;
  int64_t most = cached / scratchBytes() * tilesM;
  rowsInItem = std::clamp<int64_t>(most, tilesM, rowTiles);
}

namespace {

/// Computes blocks of C from packed operands.
class TileMultiplier {
public:
  TileMultiplier(MLIRContext *context, const ContractionSpec &spec,
                 const TileContractionPlan &plan)
      : spec(spec), plan(plan),
        b(context, argumentsOf(context, spec, plan), plan.scratchBytes()),
        tiles(MatrixTiles::create(b, plan.unit)), a(b.argument(0)),
        matrixB(b.argument(1)), c(b.argument(spec.bias ? 3 : 2)) {
    sums = b.scratch(b.getF32Type(), 0, plan.sumsCount());
    int64_t offset = 4 * plan.sumsCount();
    if (plan.packsA)
      a = b.scratch(b.getI16Type(), offset, plan.scratchA());
    if (plan.packsB)
      matrixB = b.scratch(b.getI16Type(), offset + 2 * plan.scratchA(),
                          plan.scratchB());
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
    firstColumn = b.mul(b.div(block, plan.rowBlocks()), plan.columnsInItem);
    Value lastColumn =
        b.min(b.add(firstColumn, plan.columnsInItem), plan.columnTiles);
    auto forRows = [&](LoopBuilder::Body body) {
      b.forEach(firstRow, lastRow, plan.tilesM, body);
    };
    auto forColumns = [&](LoopBuilder::Body body) {
      b.forEach(firstColumn, lastColumn, plan.tilesN, body);
    };
    if (plan.rowsFirst())
      return forRows([&](Value row) {
        forColumns([&](Value column) { emitPart(row, column, b.index(0)); });
      });
    if (plan.packsA)
      return b.forEach(plan.parts, [&](Value part) {
        pack(part, operandA(spec, plan), 0, a, firstRow, lastRow);
        if (plan.packsB)
          pack(part, operandB(spec, plan), 1, matrixB, firstColumn, lastColumn);
        forColumns([&](Value column) {
          forRows([&](Value row) { emitPart(row, column, part); });
        });
      });
    forColumns([&](Value column) {
      b.forEach(plan.parts, [&](Value part) {
        forRows([&](Value row) { emitPart(row, column, part); });
      });
    });
  }

  /// The step of k at which a part begins.
  Value startOf(Value part) {
    return b.div(b.mul(part, plan.steps), plan.parts);
  }

  /// Packs a part of tiles [first, last) of an operand into scratch.
  void pack(Value part, const TileOperand &operand, unsigned number,
            const FlatMemory &packed, Value first, Value last) {
    TilePacker packer(b, operand, b.argument(number), packed);
    Value begin = startOf(part);
    Value matrix = number == 0 ? matrixOfA() : matrixOfB();
    b.forEach(begin, startOf(b.add(part, 1)), 1, [&](Value step) {
      b.forEach(first, last, 1, [&](Value tile) {
        Value to = b.add(b.mul(b.sub(tile, first), plan.stepsInPart()),
                         b.sub(step, begin));
        packer.emit(matrix, tile, step, b.mul(to, plan.tileCount));
      });
    });
  }

  Value matrixOfA() { return plan.matricesA == 1 ? b.index(0) : batch; }
  Value matrixOfB() { return plan.matricesB == 1 ? b.index(0) : batch; }

  /// Adds a part of k to a block of tilesM x tilesN tiles.
  void emitPart(Value row, Value column, Value part) {
    Value to = plan.parts == 1
                   ? b.index(0)
                   : b.mul(b.sub(row, firstRow), kSide * plan.sumsPitch());
    if (plan.packsA)
      to = b.add(to, b.mul(b.div(b.sub(column, firstColumn), plan.tilesN),
                           plan.rowsInItem * kSide * plan.sumsPitch()));
    SmallVector<MatrixTiles::Place> places;
    for (int64_t i = 0; i < plan.tilesM; ++i)
      for (int64_t j = 0; j < plan.tilesN; ++j)
        places.push_back({sums,
                          b.add(to, i * kSide * plan.sumsPitch() + j * kSide),
                          plan.sumsPitch(), plan.rowsOfTile});
    auto multiply = [&](bool isFirst) {
      auto block = isFirst ? tiles->zeros(places.size(), plan.rowsOfTile)
                           : tiles->load(places);
      tiles->store(addSteps(row, column, part, block), places);
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

  SmallVector<Value> addSteps(Value row, Value column, Value part,
                              ValueRange block) {
    Value first = startOf(part), last = startOf(b.add(part, 1));
    // The place of step 0 of a tile, also if only a part lies in scratch. In
    // its place, A has as many elements in a tile of rows as packed.
    auto placeOf = [&](Value tile, Value start, Value before, bool isPart) {
      if (!isPart)
        return b.mul(b.add(before, tile), plan.steps * plan.tileCount);
      Value inPart = b.mul(b.sub(tile, start), plan.stepsInPart());
      return b.mul(b.sub(inPart, first), plan.tileCount);
    };
    Value beforeA = b.mul(matrixOfA(), plan.rowTiles);
    Value beforeB = b.mul(matrixOfB(), plan.columnTiles);
    int64_t pitchA = plan.inPlaceA ? plan.k : kDepth;
    int64_t stepA = plan.inPlaceA ? kDepth : plan.tileCount;
    SmallVector<Value> rows, columns;
    for (int64_t i = 0; i < plan.tilesM; ++i)
      rows.push_back(placeOf(b.add(row, i), firstRow, beforeA, plan.packsA));
    for (int64_t i = 0; i < plan.tilesN; ++i)
      columns.push_back(
          placeOf(b.add(column, i), firstColumn, beforeB, plan.packsB));
    auto addStep = [&](Value step, ValueRange before, int64_t k) {
      SmallVector<MatrixTiles::Place> tilesOfA, tilesOfB;
      for (Value at : rows)
        tilesOfA.push_back(
            {a, b.add(at, b.mul(step, stepA)), pitchA, plan.rowsOfTile});
      for (Value at : columns)
        tilesOfB.push_back(
            {matrixB, b.add(at, b.mul(step, plan.tileCount)), kDepth});
      return tiles->multiplyAdd(before, tilesOfA, tilesOfB, k);
    };
    Value whole = b.min(last, plan.wholeSteps());
    SmallVector<Value> sums =
        b.fold(first, whole, block, [&](Value step, ValueRange before) {
          return addStep(step, before, kDepth);
        });
    if (plan.wholeSteps() == plan.steps)
      return sums;
    return b.fold(whole, last, sums, [&](Value step, ValueRange before) {
      return addStep(step, before, plan.pairsOfRest() * 2);
    });
  }

  /// Applies bias, relu and the one rounding to a block of sums.
  void finish(Value row, Value column, Value from) {
    int64_t lanes = plan.sumsPitch();
    Value first = b.mul(row, plan.rowsOfTile);
    Value count = b.min(b.sub(b.index(plan.m), b.min(first, plan.m)),
                        plan.tilesM * plan.rowsOfTile);
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
  std::unique_ptr<MatrixTiles> tiles;
  FlatMemory a, matrixB, c, sums;
  Value batch, firstRow, firstColumn; ///< of the work item
};

} // namespace

FailureOr<EmittedKernel>
mp::cpu::emitTileContraction(MLIRContext *context, const ContractionSpec &spec,
                             unsigned workers, TileUnit unit,
                             ObjectCompiler &compiler) {
  TileContractionPlan plan(spec, workers, unit);
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
  product.shared = plan.scratchBytes();
  product.flops = spec.flops();
  product.arguments = {operands->first, operands->second};
  if (spec.bias)
    product.arguments.push_back({KernelArgument::Kind::Operand, 2});
  product.arguments.push_back({KernelArgument::Kind::Result, 0});
  kernel.launches.push_back(std::move(product));
  return kernel;
}
