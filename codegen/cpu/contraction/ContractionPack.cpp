//===- ContractionPack.cpp - copies of panels for a product ---------------===//
#include "codegen/cpu/contraction/ContractionCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp::cpu;

void PanelCopy::emit(LoopBuilder &b) const {
  spec.transposeB ? emitColumns(b) : emitRows(b);
}

/// B is [k, n]: a row of a panel is a piece of a row of B.
void PanelCopy::emitRows(LoopBuilder &b) const {
  Value columns = b.sub(b.index(plan.n), column);
  auto rows = [&](function_ref<void(Value from, Value to)> copyRow) {
    b.forEach(b.index(0), depth, 1, [&](Value p) {
      Value row = b.add(matrix, b.mul(b.add(first, p), plan.n));
      copyRow(b.add(row, column), b.add(begin, b.mul(p, plan.tileN)));
    });
  };
  auto whole = [&](Value from, Value to) {
    for (int64_t j = 0; j < plan.tileN; j += plan.lanes)
      b.store(b.loadAs(plan.accumulator, source, b.add(from, j), plan.lanes),
              panel, b.add(to, j));
  };
  auto edge = [&](Value from, Value to) {
    for (int64_t j = 0; j < plan.tileN; j += plan.lanes)
      b.store(b.zero(plan.accumulator, plan.lanes), panel, b.add(to, j));
    b.forVectors(columns, plan.lanes, [&](Value j, Value mask) {
      Value piece =
          b.loadAs(plan.accumulator, source, b.add(from, j), plan.lanes, mask);
      b.store(piece, panel, b.add(to, j));
    });
  };
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, columns,
                                        b.index(plan.tileN));
  b.ifElse(isWhole, [&] { rows(whole); }, [&] { rows(edge); });
}

/// B is [n, k]: squares of it are transposed in registers. The last along k
/// overlaps the one before, so only a k below its side needs a mask.
void PanelCopy::emitColumns(LoopBuilder &b) const {
  int64_t side = plan.lanes;
  b.forEach(b.index(0), b.index(plan.tileN), side, [&](Value j) {
    if (plan.k < side) {
      b.forVectors(b.index(plan.k), side, [&](Value p, Value mask) {
        emitSquare(b, j, p, mask, plan.k);
      });
      return;
    }
    Value last = b.sub(depth, b.index(side));
    b.forEach(b.index(0), depth, side, [&](Value p) {
      emitSquare(b, j, arith::MinUIOp::create(b, p, last), Value(), side);
    });
  });
}

/// Columns [j, j + side) of the panel, rows [p, p + rows).
void PanelCopy::emitSquare(LoopBuilder &b, Value j, Value p, Value mask,
                           int64_t rows) const {
  SmallVector<Value> lines;
  for (int64_t i = 0; i < plan.lanes; ++i) {
    // Past the end the last column is repeated.
    Value line = b.min(b.add(b.add(column, j), i), plan.n - 1);
    Value at = b.add(b.add(matrix, b.mul(line, plan.k)), b.add(first, p));
    lines.push_back(b.loadAs(plan.accumulator, source, at, plan.lanes, mask));
  }
  b.transposeSquare(lines);
  for (int64_t i = 0; i < rows; ++i)
    b.store(lines[i], panel,
            b.add(b.add(begin, j), b.mul(b.add(p, i), plan.tileN)));
}

OwningOpRef<ModuleOp> mp::cpu::buildPanels(MLIRContext *context,
                                           const ContractionSpec &spec,
                                           const ContractionPlan &plan) {
  LoopBuilder b(
      context,
      {{spec.b, plan.n * plan.k}, {plan.accumulator, plan.panelCount()}}, 0);
  b.forEach(b.begin(), b.end(), 1, [&](Value panel) {
    PanelCopy copy{.spec = spec,
                   .plan = plan,
                   .source = b.argument(0),
                   .panel = b.argument(1),
                   .matrix = b.index(0),
                   .first = b.index(0),
                   .column = b.mul(panel, plan.tileN),
                   .depth = b.index(plan.k),
                   .begin = b.mul(panel, plan.k * plan.tileN)};
    copy.emit(b);
  });
  return b.take();
}
