//===- ContractionMultiply.cpp - the loops of a product -------------------===//
#include "codegen/cpu/contraction/ContractionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mp::cpu;

namespace {

SmallVector<LoopBuilder::Argument> argumentsOf(const ContractionSpec &spec,
                                               const ContractionPlan &plan) {
  SmallVector<LoopBuilder::Argument> arguments;
  arguments.push_back({spec.a, (plan.oneA ? 1 : plan.batch) * plan.m * plan.k});
  if (plan.keepsB)
    arguments.push_back({plan.accumulator, plan.panelCount()});
  else
    arguments.push_back(
        {spec.b, (plan.oneB ? 1 : plan.batch) * plan.n * plan.k});
  if (spec.bias)
    arguments.push_back({*spec.bias, plan.n});
  arguments.push_back({spec.c, plan.batch * plan.m * plan.n});
  return arguments;
}

/// Computes blocks of C. Scratch holds a part of A and of one panel of B in the
/// accumulator's type, A oriented as it is in memory, and the block's sums; all
/// are padded to whole tiles, so the tile code knows no edge. The padding only
/// reaches sums that are never stored; it is cleared since arbitrary subnormals
/// would slow them.
class Multiplier {
public:
  Multiplier(MLIRContext *context, const ContractionSpec &spec,
             const ContractionPlan &plan)
      : spec(spec), plan(plan),
        b(context, argumentsOf(spec, plan), plan.scratch()), a(b.argument(0)),
        c(b.argument(spec.bias ? 3 : 2)) {
    int64_t offset = 0;
    auto take = [&](int64_t bytes) {
      offset += bytes;
      return b.scratch(plan.accumulator, offset - bytes,
                       bytes / plan.accumulatorBytes());
    };
    if (!plan.inPlaceA)
      blockA = take(plan.bytesA);
    panel = plan.keepsB ? b.argument(1) : take(plan.bytesB);
    tile = take(plan.bytesTile);
    if (plan.bytesC)
      sums = take(plan.bytesC);
    b.forEach(b.begin(), b.end(), 1, [&](Value item) { emitItem(item); });
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  void emitItem(Value item) {
    Value block = b.rem(item, plan.rowBlocks * plan.columnBlocks);
    batch = b.div(item, plan.rowBlocks * plan.columnBlocks);
    row = b.mul(b.div(block, plan.columnBlocks), plan.blockM);
    column = b.mul(b.rem(block, plan.columnBlocks), plan.blockN);
    rows = b.min(b.sub(b.index(plan.m), row), plan.blockM);
    columns = b.min(b.sub(b.index(plan.n), column), plan.blockN);
    matrixA = b.mul(batch, plan.oneA ? 0 : plan.m * plan.k);
    matrixB = b.mul(batch, plan.oneB ? 0 : plan.n * plan.k);
    if (plan.m % plan.tileM != 0 && !plan.inPlaceA)
      clearA();
    b.forEach(plan.parts, [&](Value part) { emitPart(part); });
  }

  /// The rows that pad the last tile are never copied.
  void clearA() {
    Value end = b.index(plan.bytesA / plan.accumulatorBytes());
    b.forEach(b.index(0), end, plan.lanes, [&](Value x) {
      b.store(b.zero(plan.accumulator, plan.lanes), blockA, x);
    });
  }

  /// Adds the products of a part of k to the block's sums.
  void emitPart(Value part) {
    auto start = [&](Value i) { return b.div(b.mul(i, plan.k), plan.parts); };
    first = start(part);
    depth = b.sub(start(b.add(part, 1)), first);
    isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part,
                                   b.index(plan.parts - 1));
    if (!plan.inPlaceA)
      copyA();
    b.forEach(b.index(0), columns, plan.tileN, [&](Value j) {
      findPanel(b.add(column, j));
      b.forEach(b.index(0), rows, plan.tileM, [&](Value i) {
        prefetch(i, j);
        emitTile(i, j);
      });
    });
  }

  /// Finds the part of a panel of B, or copies it.
  void findPanel(Value column) {
    if (plan.keepsB) {
      panelBegin = b.add(b.mul(column, plan.k), b.mul(first, plan.tileN));
      return;
    }
    panelBegin = b.index(0);
    PanelCopy copy{.spec = spec,
                   .plan = plan,
                   .source = b.argument(1),
                   .panel = panel,
                   .matrix = matrixB,
                   .first = first,
                   .column = column,
                   .depth = depth,
                   .begin = panelBegin};
    copy.emit(b);
  }

  /// Prefetches a share of the next copies into the second-level cache, so that
  /// copying does not wait for memory: of the next panel of B, and of the next
  /// part of A.
  void prefetch(Value i, Value j) {
    int64_t rowTiles = llvm::divideCeil(plan.blockM, plan.tileM);
    int64_t panels = llvm::divideCeil(plan.blockN, plan.tileN);
    Value rowTile = b.div(i, plan.tileM);
    Value next = b.add(first, depth);
    Value depthLeft = b.sub(b.index(plan.k), next);

    // After the last panel comes the first one of the next part.
    Value nextColumn = b.add(j, plan.tileN);
    Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                        nextColumn, columns);
    auto pick = [&](Value wrapped, Value straight) -> Value {
      return arith::SelectOp::create(b, wraps, wrapped, straight);
    };
    Value columnB = b.add(column, pick(b.index(0), nextColumn));
    Value firstB = pick(next, first);
    Value depthB = pick(b.min(depthLeft, plan.depth()), depth);
    Value columnsB = b.min(b.sub(b.index(plan.n), columnB), plan.tileN);
    if (!plan.keepsB)
      prefetch(b.argument(1), matrixB,
               spec.transposeB ? Region{columnB, columnsB, plan.tileN, plan.k,
                                        firstB, depthB, plan.depth()}
                               : Region{firstB, depthB, plan.depth(), plan.n,
                                        columnB, columnsB, plan.tileN},
               rowTile, rowTiles);

    if (plan.parts == 1)
      return;
    Value depthA = b.min(depthLeft, plan.depth());
    prefetch(a, matrixA,
             spec.transposeA ? Region{next, depthA, plan.depth(), plan.m, row,
                                      rows, plan.blockM}
                             : Region{row, rows, plan.blockM, plan.k, next,
                                      depthA, plan.depth()},
             b.add(b.mul(b.div(j, plan.tileN), rowTiles), rowTile),
             rowTiles * panels);
  }

  /// Lines of a matrix in memory, and a piece of each.
  struct Region {
    Value line, lines;
    int64_t mostLines, pitch;
    Value at, length;
    int64_t mostLength;
  };

  /// Prefetches one share of `shares`.
  void prefetch(const FlatMemory &source, Value matrix, const Region &region,
                Value share, int64_t shares) {
    int64_t lines = llvm::divideCeil(region.mostLines, shares);
    int64_t step = 64 / (source.element.getIntOrFloatBitWidth() / 8);
    Value isEmpty = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          region.length, b.index(0));
    Value none = b.index(0), begin = b.mul(share, lines);
    Value end = arith::MinUIOp::create(b, b.add(begin, lines), region.lines);
    end = arith::SelectOp::create(b, isEmpty, none, end);
    b.forEach(begin, end, 1, [&](Value line) {
      Value from = b.add(b.mul(b.add(region.line, line), region.pitch),
                         b.add(matrix, region.at));
      for (int64_t x = 0; x < region.mostLength; x += step) {
        Value last = b.sub(region.length, b.index(1));
        b.prefetch(source,
                   b.add(from, arith::MinUIOp::create(b, last, b.index(x))));
      }
    });
  }

  /// Copies the block's rows of A (columns, where A is transposed) into
  /// scratch.
  void copyA() {
    int64_t pitch = spec.transposeA ? plan.m : plan.k;
    Value from = spec.transposeA ? first : row,
          offset = spec.transposeA ? row : first;
    Value lines = spec.transposeA ? depth : rows,
          length = spec.transposeA ? rows : depth;
    b.forEach(b.index(0), lines, 1, [&](Value line) {
      Value start =
          b.add(b.add(matrixA, b.mul(b.add(from, line), pitch)), offset);
      Value to = b.mul(line, plan.strideA);
      b.forVectors(length, plan.lanes, [&](Value x, Value mask) {
        Value piece =
            b.loadAs(plan.accumulator, a, b.add(start, x), plan.lanes, mask);
        b.store(piece, blockA, b.add(to, x));
      });
    });
  }

  /// The tile of sums at (i, j) of the block.
  void emitTile(Value i, Value j) {
    findRows(i);
    int64_t registers = plan.tileM * plan.tileN / plan.lanes;
    SmallVector<Value> start(registers, b.zero(plan.accumulator, plan.lanes));
    auto loop = scf::ForOp::create(b, b.index(0), depth, b.index(1), start);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> next =
          step(loop.getInductionVar(), loop.getRegionIterArgs());
      scf::YieldOp::create(b, next);
    }
    if (plan.parts == 1)
      return finishTile(i, j, loop.getResults());
    SmallVector<Value> totals = addBefore(i, j, loop.getResults());
    b.ifElse(
        isLast, [&] { finishTile(i, j, totals); },
        [&] {
          forTile([&](unsigned slot, int64_t r, int64_t v) {
            b.store(totals[slot], sums, sumAt(i, j, r, v));
          });
        });
  }

  /// Adds the sums of the parts before this one to those of this one.
  SmallVector<Value> addBefore(Value i, Value j, ValueRange part) {
    SmallVector<Value> totals;
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, b.index(0));
    forTile([&](unsigned slot, int64_t r, int64_t v) {
      Value before = b.load(sums, sumAt(i, j, r, v), plan.lanes);
      totals.push_back(arith::SelectOp::create(b, isFirst, part[slot],
                                               sum(before, part[slot])));
    });
    return totals;
  }

  Value sum(Value x, Value y) {
    if (isa<FloatType>(plan.accumulator))
      return arith::AddFOp::create(b, x, y);
    return arith::AddIOp::create(b, x, y);
  }

  /// Adds row p of B's panel times column p of A's tile to `sum`.
  SmallVector<Value> step(Value p, ValueRange sum) {
    Value rowB = b.add(panelBegin, b.mul(p, plan.tileN));
    SmallVector<Value> vectors;
    for (int64_t v = 0; v < plan.tileN / plan.lanes; ++v)
      vectors.push_back(b.load(panel, b.add(rowB, v * plan.lanes), plan.lanes));
    Value element;
    SmallVector<Value> next;
    forTile([&](unsigned slot, int64_t r, int64_t v) {
      if (v == 0)
        element = elementA(r, p);
      next.push_back(multiplyAdd(element, vectors[v], sum[slot]));
    });
    return next;
  }

  /// Finds where the rows of A of the tile at i begin; past the end the last
  /// row is repeated.
  void findRows(Value i) {
    lineA.clear();
    for (int64_t r = 0; r < plan.tileM; ++r) {
      Value line = b.add(i, r);
      if (plan.inPlaceA) {
        line = arith::MinUIOp::create(b, line, b.sub(rows, b.index(1)));
        line = b.add(b.mul(b.add(row, line), plan.k), b.add(matrixA, first));
      } else if (!spec.transposeA) {
        line = b.mul(line, plan.strideA);
      }
      lineA.push_back(line);
    }
  }

  /// Loads element p of row r of the tile into every lane.
  Value elementA(int64_t r, Value p) {
    Value step = spec.transposeA ? b.mul(p, plan.strideA) : p;
    return b.loadSplat(plan.inPlaceA ? a : blockA, b.add(lineA[r], step),
                       plan.lanes);
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (plan.fused)
      return math::FmaOp::create(b, x, y, sum);
    if (isa<FloatType>(plan.accumulator))
      return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y));
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  }

  /// Calls body(slot, row, vector) for the registers of a tile.
  void forTile(function_ref<void(unsigned, int64_t, int64_t)> body) {
    unsigned slot = 0;
    for (int64_t r = 0; r < plan.tileM; ++r)
      for (int64_t v = 0; v < plan.tileN / plan.lanes; ++v)
        body(slot++, r, v);
  }

  Value sumAt(Value i, Value j, int64_t r, int64_t v) {
    return b.add(b.add(b.mul(b.add(i, r), plan.strideC), j), v * plan.lanes);
  }

  /// Applies bias, relu and the one rounding, from registers to C; at the edges
  /// of C by way of scratch.
  void finishTile(Value i, Value j, ValueRange results) {
    auto fits = [&](Value at, int64_t size, Value count) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                   b.add(at, size), count);
    };
    auto place = [&](Value r, Value x) {
      Value line = b.add(b.mul(batch, plan.m), b.add(row, r));
      return b.add(b.mul(line, plan.n), b.add(column, x));
    };
    auto whole = [&] {
      forTile([&](unsigned slot, int64_t r, int64_t v) {
        Value x = b.add(j, v * plan.lanes);
        b.storeAs(finish(results[slot], b.add(column, x), Value()), c,
                  place(b.add(i, r), x));
      });
    };
    auto edge = [&] {
      forTile([&](unsigned slot, int64_t r, int64_t v) {
        b.store(results[slot], tile, b.index(r * plan.tileN + v * plan.lanes));
      });
      Value height = b.min(b.sub(rows, i), plan.tileM);
      Value width = b.min(b.sub(columns, j), plan.tileN);
      b.forEach(b.index(0), height, 1, [&](Value r) {
        b.forVectors(width, plan.lanes, [&](Value v, Value mask) {
          Value sum = b.load(tile, b.add(b.mul(r, plan.tileN), v), plan.lanes);
          Value x = b.add(j, v);
          b.storeAs(finish(sum, b.add(column, x), mask), c,
                    place(b.add(i, r), x), mask);
        });
      });
    };
    Value isWhole = arith::AndIOp::create(b, fits(i, plan.tileM, rows),
                                          fits(j, plan.tileN, columns));
    b.ifElse(isWhole, whole, edge);
  }

  Value finish(Value total, Value at, Value mask) {
    bool isFloat = isa<FloatType>(plan.accumulator);
    if (spec.bias) {
      Value bias =
          b.loadAs(plan.accumulator, b.argument(2), at, plan.lanes, mask);
      total = sum(total, bias);
    }
    if (!spec.relu)
      return total;
    Value zero = b.zero(plan.accumulator, plan.lanes);
    return isFloat ? Value(arith::MaximumFOp::create(b, total, zero))
                   : Value(arith::MaxSIOp::create(b, total, zero));
  }

  const ContractionSpec &spec;
  const ContractionPlan &plan;
  LoopBuilder b;
  FlatMemory a, c, blockA, panel, tile, sums;
  Value batch, row, column, rows, columns; ///< the work item's block of C
  Value matrixA, matrixB;                  ///< where its operands begin
  SmallVector<Value> lineA;                ///< where the rows of the tile begin
  Value first, depth, isLast; ///< of this part of k: its begin and length
  Value panelBegin;           ///< of its panel of B
};

} // namespace

OwningOpRef<ModuleOp> mp::cpu::buildMultiply(MLIRContext *context,
                                             const ContractionSpec &spec,
                                             const ContractionPlan &plan) {
  return Multiplier(context, spec, plan).take();
}
