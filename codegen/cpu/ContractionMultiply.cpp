#include "codegen/cpu/ContractionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

namespace {

SmallVector<LoopBuilder::Argument> argumentsOf(const ContractionSpec &spec,
                                               const ContractionPlan &plan) {
  SmallVector<LoopBuilder::Argument> arguments;
  arguments.push_back({spec.a, (plan.oneA ? 1 : plan.batch) * plan.m * plan.k});
  arguments.push_back({spec.b, (plan.oneB ? 1 : plan.batch) * plan.n * plan.k});
  if (spec.bias)
    arguments.push_back({*spec.bias, plan.n});
  arguments.push_back({spec.c, plan.batch * plan.m * plan.n});
  return arguments;
}

/// Computes blocks of C. Scratch holds parts of A and B in the accumulator's
/// type, A oriented as it is in memory and B in panels, and the block's sums;
/// all are padded to whole tiles, so the tile code knows no edge. The padding
/// only reaches sums that are never stored; it is cleared since subnormal
/// rubbish would slow them.
class Multiplier {
public:
  Multiplier(MLIRContext *context, const ContractionSpec &spec,
             const ContractionPlan &plan)
      : spec(spec), plan(plan),
        b(context, argumentsOf(spec, plan), plan.scratch()), a(b.argument(0)),
        c(b.argument(spec.bias ? 3 : 2)) {
    int64_t width = plan.accumulatorBytes();
    blockA = b.scratch(plan.accumulator, 0, plan.bytesA / width);
    panels = b.scratch(plan.accumulator, plan.bytesA, plan.bytesB / width);
    sums = b.scratch(plan.accumulator, plan.bytesA + plan.bytesB,
                     plan.bytesC / width);
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
    if (plan.m % plan.tileM != 0)
      clearA();
    b.forEach(plan.parts, [&](Value part) { emitPart(part); });
    emitRounding();
  }

  /// Rows that pad the last tile are copied from nowhere.
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
    PanelCopy{spec,
              plan,
              b.argument(1),
              panels,
              b.mul(batch, plan.oneB ? 0 : plan.n * plan.k),
              first,
              depth,
              column,
              columns}
        .emit(b);
    copyA();
    b.forEach(b.index(0), columns, plan.tileN, [&](Value j) {
      // A panel has as many elements as its columns times the depth.
      Value panel = b.mul(j, plan.depth());
      b.forEach(b.index(0), rows, plan.tileM,
                [&](Value i) { emitTile(i, j, panel); });
    });
  }

  /// Copies the block's rows of A (columns, where A is transposed) into
  /// scratch.
  void copyA() {
    Value matrix = b.mul(batch, plan.oneA ? 0 : plan.m * plan.k);
    int64_t pitch = spec.transposeA ? plan.m : plan.k;
    Value from = spec.transposeA ? first : row,
          offset = spec.transposeA ? row : first;
    Value lines = spec.transposeA ? depth : rows,
          length = spec.transposeA ? rows : depth;
    b.forEach(b.index(0), lines, 1, [&](Value line) {
      Value start =
          b.add(b.add(matrix, b.mul(b.add(from, line), pitch)), offset);
      Value to = b.mul(line, plan.strideA);
      b.forVectors(length, plan.lanes, [&](Value x, Value mask) {
        Value piece =
            b.loadAs(plan.accumulator, a, b.add(start, x), plan.lanes, mask);
        b.store(piece, blockA, b.add(to, x));
      });
    });
  }

  /// The tile of sums at (i, j) of the block, whose panel of B begins at
  /// `panel`.
  void emitTile(Value i, Value j, Value panel) {
    SmallVector<Value> start = loadSums(i, j);
    auto loop = scf::ForOp::create(b, b.index(0), depth, b.index(1), start);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> next =
          step(i, panel, loop.getInductionVar(), loop.getRegionIterArgs());
      scf::YieldOp::create(b, next);
    }
    forTile([&](unsigned slot, int64_t r, int64_t v) {
      b.store(loop.getResult(slot), sums, sumAt(i, j, r, v));
    });
  }

  /// Sums of the parts before this one: none before the first.
  SmallVector<Value> loadSums(Value i, Value j) {
    Value zero = b.zero(plan.accumulator, plan.lanes);
    SmallVector<Value> start;
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, b.index(0));
    forTile([&](unsigned, int64_t r, int64_t v) {
      Value sum = zero;
      if (plan.parts > 1) {
        Value before = b.load(sums, sumAt(i, j, r, v), plan.lanes);
        sum = arith::SelectOp::create(b, isFirst, zero, before);
      }
      start.push_back(sum);
    });
    return start;
  }

  /// Row p of B's panel times column p of A's tile, added to `sum`.
  SmallVector<Value> step(Value i, Value panel, Value p, ValueRange sum) {
    Value rowB = b.add(panel, b.mul(p, plan.tileN));
    SmallVector<Value> vectors;
    for (int64_t v = 0; v < plan.tileN / plan.lanes; ++v)
      vectors.push_back(
          b.load(panels, b.add(rowB, v * plan.lanes), plan.lanes));
    Value element;
    SmallVector<Value> next;
    forTile([&](unsigned slot, int64_t r, int64_t v) {
      if (v == 0)
        element = b.loadSplat(blockA, elementA(b.add(i, r), p), plan.lanes);
      next.push_back(multiplyAdd(element, vectors[v], sum[slot]));
    });
    return next;
  }

  Value elementA(Value i, Value p) {
    return spec.transposeA ? b.add(b.mul(p, plan.strideA), i)
                           : b.add(b.mul(i, plan.strideA), p);
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

  /// Bias, relu and the one rounding, from the sums to C.
  void emitRounding() {
    b.forEach(b.index(0), rows, 1, [&](Value r) {
      Value line = b.add(b.mul(batch, plan.m), b.add(row, r));
      Value to = b.add(b.mul(line, plan.n), column);
      b.forVectors(columns, plan.lanes, [&](Value j, Value mask) {
        Value sum = b.load(sums, b.add(b.mul(r, plan.strideC), j), plan.lanes);
        b.storeAs(finish(sum, b.add(column, j), mask), c, b.add(to, j), mask);
      });
    });
  }

  Value finish(Value sum, Value at, Value mask) {
    bool isFloat = isa<FloatType>(plan.accumulator);
    if (spec.bias) {
      Value bias =
          b.loadAs(plan.accumulator, b.argument(2), at, plan.lanes, mask);
      sum = isFloat ? Value(arith::AddFOp::create(b, sum, bias))
                    : Value(arith::AddIOp::create(b, sum, bias));
    }
    if (!spec.relu)
      return sum;
    Value zero = b.zero(plan.accumulator, plan.lanes);
    return isFloat ? Value(arith::MaximumFOp::create(b, sum, zero))
                   : Value(arith::MaxSIOp::create(b, sum, zero));
  }

  const ContractionSpec &spec;
  const ContractionPlan &plan;
  LoopBuilder b;
  FlatMemory a, c, blockA, panels, sums;
  Value batch, row, column, rows, columns; ///< the work item's block of C
  Value first, depth; ///< of this part of k: where it begins, how long it is
};

} // namespace

OwningOpRef<ModuleOp> mp::cpu::buildMultiply(MLIRContext *context,
                                             const ContractionSpec &spec,
                                             const ContractionPlan &plan) {
  return Multiplier(context, spec, plan).take();
}
