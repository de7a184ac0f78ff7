//===- GeneralEmitter.cpp - a stage of any maps, alone --------------------===//
//
// A stage of any maps, alone. A work item is one combination of the parallel
// loops except the line, the loop along which results are contiguous. The line
// is vectorised if every access is contiguous along it or constant. Operands
// that are contiguous along another loop are transposed in square tiles of
// registers. Reductions are in the order of the loops.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/nest/GroupEmitter.h"
#include "codegen/cpu/nest/KernelFunction.h"
#include "codegen/cpu/nest/ScalarBody.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

/// Rows and columns of a tile that is transposed in registers.
constexpr int64_t kTileSize = 16;

/// Transposes `kTileSize` vectors: each round swaps one bit of the row's number
/// with the same bit of the lane's.
void transpose(OpBuilder &b, Location location, MutableArrayRef<Value> rows) {
  for (int64_t bit = kTileSize / 2; bit > 0; bit /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < kTileSize; ++lane) {
      bool isSet = lane & bit;
      low.push_back(isSet ? kTileSize + lane - bit : lane);
      high.push_back(isSet ? kTileSize + lane : lane + bit);
    }
    for (int64_t row = 0; row < kTileSize; ++row) {
      if (row & bit)
        continue;
      Value a = rows[row], c = rows[row + bit];
      rows[row] = vector::ShuffleOp::create(b, location, a, c, low);
      rows[row + bit] = vector::ShuffleOp::create(b, location, a, c, high);
    }
  }
}

class GeneralEmitter {
public:
  GeneralEmitter(linalg::GenericOp stage, Value predicate)
      : stage(stage), f(stage.getContext(), stage.getLoc(), predicate),
        sizes(stage.getStaticLoopRanges()), indices(sizes.size()) {
    for (auto [loop, type] : llvm::enumerate(stage.getIteratorTypesArray()))
      (type == utils::IteratorType::parallel ? parallel : reduced)
          .push_back(loop);
    if (parallel.empty())
      return;
    AffineMap stored = stage.getIndexingMapMatchingResult(stage->getResult(0));
    lineLoop = cast<AffineDimExpr>(stored.getResults().back()).getPosition();
    llvm::erase(parallel, unsigned(lineLoop));
    if (canVectorize())
      lanes = sizes[lineLoop] <= 16 ? 16 : 32;
    else
      tileLoop = findTileLoop();
  }

  StageFunction emit() {
    int64_t step = 1, items = 1, work = 1;
    if (tileLoop >= 0) {
      // An item has whole cache lines of the transposed operands.
      llvm::erase(parallel, unsigned(tileLoop));
      step = std::max<int64_t>(512 / narrowestTileBytes(), kTileSize);
      items = llvm::divideCeil(sizes[tileLoop], step);
    }
    for (unsigned loop : parallel)
      items *= sizes[loop];
    for (int64_t size : sizes)
      work *= size;
    f.loop(f.begin, f.end, 1, {}, [&](Value item, ValueRange) -> Values {
      if (tileLoop >= 0)
        emitTiles(
            setOuterIndices(item, llvm::divideCeil(sizes[tileLoop], step)),
            step);
      else
        setOuterIndices(item, 1), emitLine();
      return {};
    });
    constexpr int64_t elements = 16384;
    int64_t each = std::max<int64_t>(work / std::max<int64_t>(items, 1), 1);
    return f.finish(items, std::max<int64_t>(elements / each, 1));
  }

private:
  using Values = SmallVector<Value>;

  /// Whether `map` is contiguous along `loop`: it is the last dimension, and no
  /// other.
  bool isContiguous(AffineMap map, int loop) const {
    auto line = getAffineDimExpr(loop, map.getContext());
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if ((i + 1 == map.getNumResults()) != (expr == line) ||
          (expr != line && expr.isFunctionOfDim(loop)))
        return false;
    return map.getNumResults() > 0;
  }

  bool canVectorize() {
    return llvm::all_of(stage.getIndexingMapsArray(), [&](AffineMap map) {
      return !map.isFunctionOfDim(lineLoop) || isContiguous(map, lineLoop);
    });
  }

  bool isTile(OpOperand &operand) {
    return tileLoop >= 0 &&
           stage.getMatchingIndexingMap(&operand).isFunctionOfDim(lineLoop) &&
           isContiguous(stage.getMatchingIndexingMap(&operand), tileLoop);
  }

  /// Returns the loop along which the operands that are not contiguous along
  /// the line are, or -1.
  int findTileLoop() {
    int found = -1;
    if (!reduced.empty() || sizes[lineLoop] < kTileSize)
      return -1;
    for (AffineMap map : stage.getIndexingMapsArray()) {
      if (!map.isFunctionOfDim(lineLoop) || isContiguous(map, lineLoop))
        continue;
      auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
      if (!map.isProjectedPermutation() || !last ||
          (found >= 0 && found != int(last.getPosition())))
        return -1;
      found = last.getPosition();
    }
    bool storesLines = llvm::all_of(stage->getResults(), [&](OpResult result) {
      return isContiguous(stage.getIndexingMapMatchingResult(result), lineLoop);
    });
    return storesLines && found >= 0 && sizes[found] >= kTileSize ? found : -1;
  }

  int64_t narrowestTileBytes() {
    int64_t bytes = 8;
    for (OpOperand *read : readsOf(stage))
      if (isTile(*read))
        bytes = std::min<int64_t>(
            bytes,
            llvm::divideCeil(cast<RankedTensorType>(read->get().getType())
                                 .getElementTypeBitWidth(),
                             8));
    return bytes;
  }

  /// Sets the indices of the outer loops; returns the fastest-varying part of
  /// the item's number, which has `fastest` values.
  Value setOuterIndices(Value item, int64_t fastest) {
    auto split = [&](int64_t size) {
      Value part = arith::RemUIOp::create(f.b, f.location, item, f.index(size));
      item = arith::DivUIOp::create(f.b, f.location, item, f.index(size));
      return part;
    };
    Value rest = split(fastest);
    for (unsigned loop : llvm::reverse(parallel))
      indices[loop] = split(sizes[loop]);
    return rest;
  }

  /// Emits `step` indices of the tile loop: whole tiles, then the rest one by
  /// one.
  void emitTiles(Value number, int64_t step) {
    int64_t line = sizes[lineLoop];
    Value first = arith::MulIOp::create(f.b, f.location, number, f.index(step));
    Value last = arith::MinSIOp::create(
        f.b, f.location, f.add(first, f.index(step)), f.index(sizes[tileLoop]));
    Value count = arith::SubIOp::create(f.b, f.location, last, first);
    Value rest =
        arith::RemUIOp::create(f.b, f.location, count, f.index(kTileSize));
    Value tiled = arith::SubIOp::create(f.b, f.location, last, rest);
    int64_t lineTiled = line / kTileSize * kTileSize;
    auto elements = [&](Value from, Value to, int64_t lineFrom) {
      f.loop(from, to, 1, {}, [&](Value tileIndex, ValueRange) -> Values {
        f.loop(f.index(lineFrom), f.index(line), 1, {},
               [&](Value index, ValueRange) -> Values {
                 indices[tileLoop] = tileIndex;
                 indices[lineLoop] = index;
                 emitElement();
                 return {};
               });
        return {};
      });
    };
    f.loop(f.index(0), f.index(lineTiled), kTileSize, {},
           [&](Value index, ValueRange) -> Values {
             f.loop(first, tiled, kTileSize, {},
                    [&](Value tileIndex, ValueRange) -> Values {
                      emitTile(tileIndex, index);
                      return {};
                    });
             return {};
           });
    if (lineTiled < line)
      elements(first, tiled, lineTiled);
    elements(tiled, last, 0);
  }

  void emitTile(Value tileIndex, Value lineIndex) {
    llvm::DenseMap<OpOperand *, Values> tiles;
    indices[tileLoop] = tileIndex;
    for (OpOperand *read : readsOf(stage)) {
      if (!isTile(*read))
        continue;
      Values &rows = tiles[read];
      for (int64_t row = 0; row < kTileSize; ++row) {
        indices[lineLoop] = f.add(lineIndex, f.index(row));
        rows.push_back(f.load(memory(read->get()),
                              at(stage.getMatchingIndexingMap(read)), kTileSize,
                              {}));
      }
      transpose(f.b, f.location, rows);
    }
    lanes = kTileSize;
    indices[lineLoop] = lineIndex;
    for (int64_t row = 0; row < kTileSize; ++row) {
      indices[tileLoop] = f.add(tileIndex, f.index(row));
      for (auto &[operand, rows] : tiles)
        transposed[operand] = rows[row];
      emitElement();
    }
    lanes = 0;
    transposed.clear();
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

  /// Emits one element of every result, or a vector of them.
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
    int64_t terms = 1; // terms that a step adds
    for (unsigned inner : ArrayRef(reduced).drop_front(depth + 1))
      terms *= sizes[inner];
    SmallVector<Reduction> reductions;
    if (std::optional<Reduction> reduction = matchReduction(stage))
      reductions.push_back(*reduction);
    return f.reductionLoop(
        f.index(0), f.index(sizes[loop]), 1, sizes[loop], reductions,
        accumulators,
        [&](Value index, ValueRange values) {
          indices[loop] = index;
          return reduce(depth + 1, values);
        },
        [](Operation *) {},
        std::max<int64_t>(KernelFunction::serialTerms / terms, 1));
  }

  /// Computes the body at the current indices.
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
    if (Value row = transposed.lookup(&operand))
      return row;
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
  SmallVector<unsigned> parallel, reduced; ///< loops without the line
  int lineLoop = -1, tileLoop = -1;
  llvm::DenseMap<OpOperand *, Value> transposed; ///< vectors along the line
  int64_t lanes = 0;
  Value mask;
};

} // namespace

StageFunction mp::cpu::emitGeneral(linalg::GenericOp stage, Value predicate) {
  return GeneralEmitter(stage, predicate).emit();
}
