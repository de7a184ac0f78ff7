//===- LayoutSums.cpp - rows added up at their indices, and running sums --===//
//
// Both add in the order of the elements, however these are split into tasks.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/layout/LayoutBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

//===----------------------------------------------------------------------===//
// scatter_add
//===----------------------------------------------------------------------===//

/// Sorts the numbers of the updates by their index, by counting: afterwards
/// those of row i end at ends[i], where those of the next begin. One task.
static LogicalResult emitSort(const NumberedRows &rows,
                              const LayoutTensor &indices,
                              ArrayRef<KernelArgument> temporaries,
                              ObjectCompiler &compiler, EmittedKernel &kernel) {
  MLIRContext *context = indices.type.getContext();
  Type index = IntegerType::get(context, 64);
  LayoutBuilder b(context,
                  {{indices.element(), indices.count()},
                   {index, rows.rows},
                   {index, rows.count}},
                  0);
  FlatMemory numbers = b.argument(0), ends = b.argument(1),
             order = b.argument(2);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  // Calls body(number of the update, row) for all updates that have a row.
  auto forUpdates = [&](llvm::function_ref<void(Value, Value)> body) {
    b.forEach(rows.count, [&](Value update) {
      Value row = b.loadIndex(numbers, update);
      b.choose(b.isBelow(row, b.index(rows.rows)), [&] { body(update, row); });
    });
  };
  Value zero = constant(0), one = constant(1);
  b.forEach(b.begin(), b.end(), 1, [&](Value) {
    b.forEach(rows.rows, [&](Value row) { b.storeScalar(zero, ends, row); });
    forUpdates([&](Value, Value row) {
      b.storeScalar(b.add(b.loadScalar(ends, row), one), ends, row);
    });
    // Computes where each row begins.
    b.fold(b.index(0), b.index(rows.rows), zero,
           [&](Value row, ValueRange before) -> SmallVector<Value> {
             Value count = b.loadScalar(ends, row);
             b.storeScalar(before[0], ends, row);
             return {b.add(before[0], count)};
           });
    forUpdates([&](Value update, Value row) {
      Value place = b.loadScalar(ends, row);
      Value at = arith::IndexCastOp::create(b, b.getIndexType(), place);
      Value number = arith::IndexCastOp::create(b, index, update);
      b.storeScalar(number, order, at);
      b.storeScalar(b.add(place, one), ends, row);
    });
  });
  return b.launch(compiler, kernel,
                  {indices.argument, temporaries[0], temporaries[1]},
                  /*items=*/1);
}

/// Sums each row of the result from the updates with its index.
static LogicalResult
emitRowSums(const NumberedRows &rows, const LayoutTensor &updates,
            std::optional<LayoutTensor> base, const LayoutTensor &result,
            ArrayRef<KernelArgument> temporaries, ObjectCompiler &compiler,
            EmittedKernel &kernel) {
  Type element = result.element(), sumType = computeType(element);
  Type index = IntegerType::get(element.getContext(), 64);
  SmallVector<LoopBuilder::Argument> arguments{{element, updates.count()},
                                               {index, rows.rows},
                                               {index, rows.count},
                                               {element, result.count()}};
  SmallVector<KernelArgument> passed{updates.argument, temporaries[0],
                                     temporaries[1], result.argument};
  if (base) {
    arguments.push_back({element, base->count()});
    passed.push_back(base->argument);
  }
  LayoutBuilder b(element.getContext(), arguments, 0);
  FlatMemory ends = b.argument(1), order = b.argument(2);
  int64_t lanes = lanesFor(rows.inner, bytesOf(sumType), 256);
  // Adding rows counts as work too.
  int64_t share =
      elementsInTask(bytesOf(sumType)) / (1 + rows.count / rows.rows);
  auto tiles = LineTiles::of(rows.outer, rows.rows, rows.inner, share, lanes);
  auto indexAt = [&](const FlatMemory &buffer, Value at) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      b.loadScalar(buffer, at));
  };
  b.forTiles(tiles, [&](Value outer, Value row, Value first, Value count) {
    Value zero = b.index(0);
    Value isFirst = b.isBelow(row, b.index(1));
    Value previous = b.sub(b.select(isFirst, b.index(1), row), b.index(1));
    Value begin = b.select(isFirst, zero, indexAt(ends, previous));
    Value end = indexAt(ends, row);
    Value to =
        b.add(b.mul(b.add(b.mul(outer, rows.rows), row), rows.inner), first);
    Value from = b.add(b.mul(outer, rows.count * rows.inner), first);
    b.forVectors(count, lanes, [&](Value start, Value mask) {
      Value at = b.add(to, start);
      Value sum = base ? b.loadAs(sumType, b.argument(4), at, lanes, mask)
                       : b.zero(sumType, lanes);
      sum = b.fold(begin, end, sum,
                   [&](Value place, ValueRange sums) -> SmallVector<Value> {
                     Value update = b.mul(indexAt(order, place), rows.inner);
                     Value term = b.loadAs(sumType, b.argument(0),
                                           b.add(b.add(from, update), start),
                                           lanes, mask);
                     return {b.sum(sums[0], term)};
                   })
                .front();
      b.storeAs(sum, b.argument(3), at, mask);
    });
  });
  return b.launch(compiler, kernel, passed, tiles.items());
}

/// The same in one launch where rows have indices of their own: an item has all
/// rows of one batch entry, and some neighbouring columns, whose sums it keeps
/// in scratch.
static LogicalResult
emitBatchedSums(const NumberedRows &rows, const LayoutTensor &updates,
                const LayoutTensor &indices, std::optional<LayoutTensor> base,
                const LayoutTensor &result, ObjectCompiler &compiler,
                EmittedKernel &kernel) {
  Type element = result.element(), sumType = computeType(element);
  int64_t lanes = lanesFor(rows.inner, bytesOf(sumType));
  int64_t blocks = llvm::divideCeil(rows.inner, lanes);
  int64_t sumCount = rows.rows * lanes, scratch = sumCount * bytesOf(sumType);
  SmallVector<LoopBuilder::Argument> arguments{
      {element, updates.count()},
      {indices.element(), indices.count()},
      {element, result.count()}};
  SmallVector<KernelArgument> passed{updates.argument, indices.argument,
                                     result.argument};
  if (base) {
    arguments.push_back({element, base->count()});
    passed.push_back(base->argument);
  }
  LayoutBuilder b(element.getContext(), arguments, scratch);
  FlatMemory sums = b.scratch(sumType, 0, sumCount);
  b.forEach(b.begin(), b.end(), 1, [&](Value item) {
    Value outer = b.div(item, blocks);
    Value column = b.mul(b.rem(item, blocks), lanes);
    Value mask = b.maskFor(column, rows.inner, lanes, lanes);
    Value firstRow = b.mul(outer, rows.rows);
    Value firstUpdate = b.mul(outer, rows.count);
    auto placeOf = [&](Value first, Value row) {
      return b.add(b.mul(b.add(first, row), rows.inner), column);
    };
    b.forEach(rows.rows, [&](Value row) {
      Value start = base ? b.loadAs(sumType, b.argument(3),
                                    placeOf(firstRow, row), lanes, mask)
                         : b.zero(sumType, lanes);
      b.store(start, sums, b.mul(row, lanes));
    });
    b.forEach(rows.count, [&](Value update) {
      Value row = b.loadIndex(b.argument(1), b.add(firstUpdate, update));
      b.choose(b.isBelow(row, b.index(rows.rows)), [&] {
        Value at = b.mul(row, lanes);
        Value term = b.loadAs(sumType, b.argument(0),
                              placeOf(firstUpdate, update), lanes, mask);
        b.store(b.sum(b.load(sums, at, lanes), term), sums, at);
      });
    });
    b.forEach(rows.rows, [&](Value row) {
      b.storeAs(b.load(sums, b.mul(row, lanes), lanes), b.argument(2),
                placeOf(firstRow, row), mask);
    });
  });
  int64_t elements = (rows.rows + rows.count) * lanes;
  if (failed(b.launch(compiler, kernel, passed, rows.outer * blocks,
                      elementsInTask(bytesOf(sumType)) / elements)))
    return failure();
  kernel.launches.back().shared = scratch;
  return success();
}

LogicalResult mp::cpu::emitScatterAdd(const NumberedRows &rows,
                                      const LayoutTensor &updates,
                                      const LayoutTensor &indices,
                                      std::optional<LayoutTensor> base,
                                      const LayoutTensor &result,
                                      ObjectCompiler &compiler,
                                      EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  if (rows.batched)
    return emitBatchedSums(rows, updates, indices, base, result, compiler,
                           kernel);
  SmallVector<KernelArgument> temporaries;
  for (int64_t count : {rows.rows, rows.count}) {
    temporaries.push_back(
        {KernelArgument::Kind::Temporary, unsigned(kernel.temporaries.size())});
    kernel.temporaries.push_back(8 * std::max<int64_t>(count, 1));
  }
  if (failed(emitSort(rows, indices, temporaries, compiler, kernel)))
    return failure();
  return emitRowSums(rows, updates, base, result, temporaries, compiler,
                     kernel);
}

//===----------------------------------------------------------------------===//
// cumsum
//===----------------------------------------------------------------------===//

namespace {
class RunningSumEmitter {
public:
  RunningSumEmitter(const RunningSum &sum, Type element, int64_t count)
      : b(element.getContext(), {{element, count}, {element, count}}, 0),
        sum(sum), sumType(computeType(element)) {
    if (sum.inner == 1)
      emitRows();
    else
      emitColumns();
  }

  LayoutBuilder b;
  int64_t items = 1, itemsInTask = 1;

private:
  /// Independent sums; enough of them hide that each addition waits for the one
  /// before.
  static constexpr int64_t rowsAtOnce = 8;

  RunningSum sum;
  Type sumType;

  /// Sums columns side by side, in vectors.
  void emitColumns() {
    // The pieces of each row are wide: memory is read best along a row.
    int64_t lanes = lanesFor(sum.inner, bytesOf(sumType), 1024);
    auto tiles = LineTiles::of(1, sum.outer, sum.inner, lanes, lanes);
    b.forTiles(tiles, [&](Value, Value outer, Value first, Value count) {
      Value begin = b.add(b.mul(outer, sum.size * sum.inner), first);
      b.forVectors(count, lanes, [&](Value start, Value mask) {
        emitSums({b.add(begin, start)}, lanes, mask);
      });
    });
    items = tiles.items();
    share(tiles.lineBlock * tiles.runBlock);
  }

  /// Sums whole rows, several at once.
  void emitRows() {
    items = llvm::divideCeil(sum.outer, rowsAtOnce);
    share(rowsAtOnce);
    b.forEach(b.begin(), b.end(), 1, [&](Value item) {
      Value first = b.mul(item, rowsAtOnce);
      Value last = b.min(b.add(first, rowsAtOnce), sum.outer);
      Value isFull = b.isBelow(b.index(rowsAtOnce - 1), b.sub(last, first));
      b.choose(
          isFull,
          [&] {
            SmallVector<Value> begins;
            for (int64_t i = 0; i < rowsAtOnce; ++i)
              begins.push_back(b.mul(b.add(first, i), sum.size));
            emitSums(begins, 1, {});
          },
          [&] {
            b.forEach(first, last, 1, [&](Value row) {
              emitSums({b.mul(row, sum.size)}, 1, {});
            });
          });
    });
  }

  void share(int64_t sumsInItem) {
    int64_t elements = elementsInTask(bytesOf(sumType));
    itemsInTask = elements / std::max<int64_t>(sum.size * sumsInItem, 1);
  }

  /// Vectors of sums, each from its begin on.
  void emitSums(ArrayRef<Value> begins, int64_t lanes, Value mask) {
    SmallVector<Value> start(begins.size(), b.zero(sumType, lanes));
    b.fold(b.index(0), b.index(sum.size), start,
           [&](Value step, ValueRange sums) {
             Value at = sum.reverse ? b.sub(b.index(sum.size - 1), step) : step;
             at = b.mul(at, sum.inner);
             SmallVector<Value> next;
             for (auto [begin, before] : llvm::zip_equal(begins, sums)) {
               Value place = b.add(begin, at);
               next.push_back(b.sum(before, b.loadAs(sumType, b.argument(0),
                                                     place, lanes, mask)));
               b.storeAs(next.back(), b.argument(1), place, mask);
             }
             return next;
           });
  }
};
} // namespace

LogicalResult mp::cpu::emitRunningSum(const RunningSum &sum,
                                      const LayoutTensor &source,
                                      const LayoutTensor &result,
                                      ObjectCompiler &compiler,
                                      EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  RunningSumEmitter emitter(sum, result.element(), result.count());
  return emitter.b.launch(compiler, kernel, {source.argument, result.argument},
                          emitter.items, emitter.itemsInTask);
}
