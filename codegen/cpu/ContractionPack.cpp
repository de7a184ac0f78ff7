#include "codegen/cpu/ContractionCode.h"
#include "codegen/cpu/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

namespace {

/// Transposes a square of registers: in round s, rows i and i + s exchange the
/// blocks of s lanes that lie off the diagonal.
void transpose(LoopBuilder &b, SmallVectorImpl<Value> &rows) {
  int64_t size = rows.size();
  for (int64_t s = 1; s < size; s *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      bool upper = lane & s;
      low.push_back(upper ? size + lane - s : lane);
      high.push_back(upper ? size + lane : lane + s);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (i & s)
        continue;
      Value x = rows[i], y = rows[i + s];
      rows[i] = vector::ShuffleOp::create(b, x, y, low);
      rows[i + s] = vector::ShuffleOp::create(b, x, y, high);
    }
  }
}

/// Writes the panels of B.
class Packer {
public:
  Packer(MLIRContext *context, const ContractionSpec &spec, const ContractionPlan &plan)
      : plan(plan), b(context,
                      {{spec.b, (plan.oneB ? 1 : plan.batch) * plan.n * plan.k},
                       {plan.accumulator, plan.packedElements()}},
                      0),
        source(b.argument(0)), packed(b.argument(1)) {
    b.forEach(b.begin(), b.end(), 1, [&](Value item) {
      matrix = b.mul(b.div(item, plan.panels), plan.n * plan.k);
      panel = b.mul(item, plan.k * plan.tileN);
      column = b.mul(b.rem(item, plan.panels), plan.tileN);
      spec.transposeB ? packColumns() : packRows();
    });
  }
  OwningOpRef<ModuleOp> take() { return b.take(); }

private:
  /// B is [k, n]: a row of a panel is a piece of a row of B.
  void packRows() {
    Value columns = b.min(b.sub(b.index(plan.n), column), plan.tileN);
    b.forEach(plan.k, [&](Value p) {
      Value from = b.add(b.add(matrix, b.mul(p, plan.n)), column);
      Value to = b.add(panel, b.mul(p, plan.tileN));
      b.forVectors(columns, plan.lanes, [&](Value j, Value mask) {
        Value row = b.loadAs(plan.accumulator, source, b.add(from, j), plan.lanes, mask);
        b.store(row, packed, b.add(to, j));
      });
    });
  }

  /// B is [n, k]: squares of it are transposed in registers. The last square along k
  /// overlaps the one before, so only a k below a vector's length needs a mask.
  void packColumns() {
    b.forEach(b.index(0), b.index(plan.tileN), plan.lanes, [&](Value j) {
      if (plan.k < plan.lanes) {
        b.forVectors(b.index(plan.k), plan.lanes,
                     [&](Value p, Value mask) { packSquare(j, p, mask, plan.k); });
        return;
      }
      b.forEach(b.index(0), b.index(plan.k), plan.lanes, [&](Value p) {
        packSquare(j, b.min(p, plan.k - plan.lanes), Value(), plan.lanes);
      });
    });
  }

  /// Columns j.. of the panel, rows [p, p + depth).
  void packSquare(Value j, Value p, Value mask, int64_t depth) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < plan.lanes; ++i) {
      // Past the end the last column serves again.
      Value row = b.min(b.add(b.add(column, j), i), plan.n - 1);
      Value at = b.add(b.add(matrix, b.mul(row, plan.k)), p);
      rows.push_back(b.loadAs(plan.accumulator, source, at, plan.lanes, mask));
    }
    transpose(b, rows);
    for (int64_t i = 0; i < depth; ++i) {
      Value at = b.add(b.add(panel, b.mul(b.add(p, i), plan.tileN)), j);
      b.store(rows[i], packed, at);
    }
  }

  const ContractionPlan &plan;
  LoopBuilder b;
  Buffer source, packed;
  Value matrix, panel, column; ///< of the work item: where B begins, where the panel does
};

} // namespace

OwningOpRef<ModuleOp> mp::cpu::buildPack(MLIRContext *context, const ContractionSpec &spec,
                                         const ContractionPlan &plan) {
  return Packer(context, spec, plan).take();
}
