#include "codegen/cpu/ContractionCode.h"
#include "codegen/cpu/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

namespace {

/// Sides of the squares that are transposed. Four is what the 128-bit lanes of
/// a register hold of f32, and larger squares make LLVM slow.
constexpr int64_t side = 4;

/// Transposes each square of `side` columns that lies across the rows: in round
/// s, rows i and i + s exchange the blocks of s lanes off the diagonal.
void transposeSquares(LoopBuilder &b, MutableArrayRef<Value> rows,
                      int64_t lanes) {
  for (int64_t s = 1; s < side; s *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool upper = lane & s;
      low.push_back(upper ? lanes + lane - s : lane);
      high.push_back(upper ? lanes + lane : lane + s);
    }
    for (int64_t i = 0; i < side; ++i) {
      if (i & s)
        continue;
      Value x = rows[i], y = rows[i + s];
      rows[i] = vector::ShuffleOp::create(b, x, y, low);
      rows[i + s] = vector::ShuffleOp::create(b, x, y, high);
    }
  }
}

/// One vector of the pieces, whose number is a power of two.
Value concatenate(LoopBuilder &b, ArrayRef<Value> pieces) {
  if (pieces.size() == 1)
    return pieces.front();
  Value low = concatenate(b, pieces.take_front(pieces.size() / 2));
  Value high = concatenate(b, pieces.take_back(pieces.size() / 2));
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, side * pieces.size()));
  return vector::ShuffleOp::create(b, low, high, all);
}

/// Writes the panels of B.
class Packer {
public:
  Packer(MLIRContext *context, const ContractionSpec &spec,
         const ContractionPlan &plan)
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
        Value row = b.loadAs(plan.accumulator, source, b.add(from, j),
                             plan.lanes, mask);
        b.store(row, packed, b.add(to, j));
      });
      Value rest = b.mul(b.ceilDiv(columns, plan.lanes), plan.lanes);
      b.forEach(rest, b.index(plan.tileN), plan.lanes, [&](Value j) {
        b.store(b.zero(plan.accumulator, plan.lanes), packed, b.add(to, j));
      });
    });
  }

  /// B is [n, k]: pieces of its rows are transposed in registers. The last
  /// along k overlaps the one before, so only a k below a piece's length needs
  /// a mask.
  void packColumns() {
    b.forEach(b.index(0), b.index(plan.tileN), plan.lanes, [&](Value j) {
      if (plan.k < side) {
        b.forVectors(b.index(plan.k), side, [&](Value p, Value mask) {
          packPieces(j, p, mask, plan.k);
        });
        return;
      }
      b.forEach(b.index(0), b.index(plan.k), side, [&](Value p) {
        packPieces(j, b.min(p, plan.k - side), Value(), side);
      });
    });
  }

  /// Columns [j, j + lanes) of the panel, rows [p, p + depth).
  void packPieces(Value j, Value p, Value mask, int64_t depth) {
    SmallVector<SmallVector<Value>> pieces(side);
    for (int64_t i = 0; i < plan.lanes; ++i) {
      // Past the end the last column serves again.
      Value row = b.min(b.add(b.add(column, j), i), plan.n - 1);
      Value at = b.add(b.add(matrix, b.mul(row, plan.k)), p);
      pieces[i % side].push_back(b.load(source, at, side, mask));
    }
    SmallVector<Value> rows;
    for (ArrayRef<Value> piece : pieces)
      rows.push_back(b.widen(concatenate(b, piece), plan.accumulator, source));
    transposeSquares(b, rows, plan.lanes);
    for (int64_t i = 0; i < depth; ++i) {
      Value at = b.add(b.add(panel, b.mul(b.add(p, i), plan.tileN)), j);
      b.store(rows[i], packed, at);
    }
  }

  const ContractionPlan &plan;
  LoopBuilder b;
  FlatMemory source, packed;
  Value matrix, panel,
      column; ///< of the work item: where B begins, where the panel does
};

} // namespace

OwningOpRef<ModuleOp> mp::cpu::buildPack(MLIRContext *context,
                                         const ContractionSpec &spec,
                                         const ContractionPlan &plan) {
  return Packer(context, spec, plan).take();
}
