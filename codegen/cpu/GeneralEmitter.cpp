// A stage of any maps, alone: a work item is one combination of the parallel
// loops but the last, which is vectorised where every access is contiguous
// along it or constant. Reductions are serial, in the order of the loops.
#include "codegen/cpu/GroupEmitter.h"
#include "codegen/cpu/KernelFunction.h"
#include "codegen/cpu/ScalarBody.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

class GeneralEmitter {
public:
  GeneralEmitter(linalg::GenericOp stage, Value predicate)
      : stage(stage), f(stage.getContext(), stage.getLoc(), predicate),
        sizes(stage.getStaticLoopRanges()), indices(sizes.size()) {
    for (auto [loop, type] : llvm::enumerate(stage.getIteratorTypesArray()))
      (type == utils::IteratorType::parallel ? parallel : reduced)
          .push_back(loop);
    if (!parallel.empty()) {
      lineLoop = parallel.pop_back_val();
      lanes = canVectorize() ? (sizes[lineLoop] <= 16 ? 16 : 32) : 0;
    }
  }

  StageFunction emit() {
    int64_t items = 1, work = 1;
    for (unsigned loop : parallel)
      items *= sizes[loop];
    for (int64_t size : sizes)
      work *= size;
    f.loop(f.begin, f.end, 1, {}, [&](Value item, ValueRange) -> Values {
      setOuterIndices(item);
      emitLine();
      return {};
    });
    constexpr int64_t elements = 16384;
    int64_t each = std::max<int64_t>(work / std::max<int64_t>(items, 1), 1);
    return f.finish(items, std::max<int64_t>(elements / each, 1));
  }

private:
  using Values = SmallVector<Value>;

  /// Contiguous along the line in the last dimension, or constant along it.
  bool canVectorize() const {
    auto line = getAffineDimExpr(lineLoop, f.b.getContext());
    return llvm::all_of(
        linalg::GenericOp(stage).getIndexingMapsArray(), [&](AffineMap map) {
          for (auto [i, expr] : llvm::enumerate(map.getResults()))
            if (expr.isFunctionOfDim(lineLoop) &&
                (expr != line || i + 1 != map.getNumResults()))
              return false;
          return true;
        });
  }

  void setOuterIndices(Value item) {
    for (unsigned loop : llvm::reverse(parallel)) {
      Value size = f.index(sizes[loop]);
      indices[loop] = arith::RemUIOp::create(f.b, f.location, item, size);
      item = arith::DivUIOp::create(f.b, f.location, item, size);
    }
  }

  void emitLine() {
    if (lineLoop < 0)
      return emitElement();
    auto body = [&](Value index, ValueRange) -> Values {
      indices[lineLoop] = index;
      emitElement();
      return {};
    };
    int64_t size = sizes[lineLoop], step = std::max<int64_t>(lanes, 1);
    int64_t last = size / step * step;
    if (last)
      f.loop(f.index(0), f.index(last), step, {}, body);
    if (last == size)
      return;
    mask = lanesBelow(f.b, f.location, size - last, lanes);
    body(f.index(last), {});
    mask = nullptr;
  }

  /// One element of every result, or a vector of them.
  void emitElement() {
    Values results;
    if (reduced.empty()) {
      results = compute({});
    } else {
      for (OpOperand &init : stage.getDpsInitsMutable())
        results.push_back(broadcast(f.b, read(init), lanes));
      results = reduce(0, results);
    }
    for (auto [result, value] : llvm::zip_equal(stage->getResults(), results)) {
      AffineMap map = stage.getIndexingMapMatchingResult(result);
      f.store(broadcast(f.b, value, lanes), memory(result), at(map), mask);
    }
  }

  Values reduce(size_t depth, ValueRange accumulators) {
    if (depth == reduced.size())
      return compute(accumulators);
    unsigned loop = reduced[depth];
    return f.loop(f.index(0), f.index(sizes[loop]), 1, accumulators,
                  [&](Value index, ValueRange values) {
                    indices[loop] = index;
                    return reduce(depth + 1, values);
                  });
  }

  /// The body at the current indices.
  Values compute(ValueRange accumulators) {
    Block *body = stage.getBody();
    Values arguments(body->getNumArguments());
    for (OpOperand *operand : readsOf(stage))
      arguments[stage.getMatchingBlockArgument(operand).getArgNumber()] =
          read(*operand);
    for (auto [i, accumulator] : llvm::enumerate(accumulators))
      arguments[stage.getNumDpsInputs() + i] = accumulator;
    BodyPoint point{lanes, mask, {}, lineLoop};
    for (Value index : indices)
      point.indices.push_back(index);
    return cloneBody(f.b, stage, arguments,
                     body->getTerminator()->getOperands(), point);
  }

  Value read(OpOperand &operand) {
    if (TypedAttr attr = constantOf(operand.get()))
      return constant(f.b, f.location, attr, 0);
    AffineMap map = stage.getMatchingIndexingMap(&operand);
    bool isLine = lineLoop >= 0 && map.isFunctionOfDim(lineLoop);
    return f.load(memory(operand.get()), at(map), isLine ? lanes : 0,
                  isLine ? mask : Value());
  }

  Value memory(Value tensor) {
    return f.memory(tensor,
                    cast<RankedTensorType>(tensor.getType()).getShape());
  }

  Values at(AffineMap map) {
    Values result;
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        result.push_back(indices[dim.getPosition()]);
      else if (auto number = dyn_cast<AffineConstantExpr>(expr))
        result.push_back(f.index(number.getValue()));
      else
        result.push_back(affine::AffineApplyOp::create(
            f.b, f.location, AffineMap::get(map.getNumDims(), 0, expr),
            indices));
    }
    return result;
  }

  linalg::GenericOp stage;
  KernelFunction f;
  SmallVector<int64_t> sizes;
  Values indices;
  SmallVector<unsigned> parallel, reduced; ///< loops, the line's aside
  int lineLoop = -1;
  int64_t lanes = 0;
  Value mask;
};

} // namespace

StageFunction mp::cpu::emitGeneral(linalg::GenericOp stage, Value predicate) {
  return GeneralEmitter(stage, predicate).emit();
}
