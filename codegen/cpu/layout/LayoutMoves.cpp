//===- LayoutMoves.cpp - loops that copy elements -------------------------===//
//
// Copies: boxes into boxes, padded tensors, rows by number.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/layout/LayoutBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

LogicalResult mp::cpu::emitBox(const BoxCopy &box, const LayoutTensor &source,
                               const LayoutTensor &result,
                               ObjectCompiler &compiler,
                               EmittedKernel &kernel) {
  if (box.elements() == 0)
    return success();
  Type word = wordOf(source.element());
  LayoutBuilder b(word.getContext(),
                  {{word, source.count()}, {word, result.count()}}, 0);
  BoxCopy::Dim run = box.dims.back(), line{1, 0, 0};
  ArrayRef<BoxCopy::Dim> outer = ArrayRef(box.dims).drop_back();
  if (!outer.empty()) {
    line = outer.back();
    outer = outer.drop_back();
  }
  int64_t width = bytesOf(word), lanes = lanesFor(run.size, width);
  auto tiles = LineTiles::of(box.elements() / (line.size * run.size), line.size,
                             run.size, elementsInTask(width), lanes);
  b.forTiles(tiles, [&](Value item, Value lineAt, Value first, Value count) {
    Value from = b.add(b.index(box.from), b.mul(lineAt, line.from));
    Value to = b.add(b.index(box.to), b.mul(lineAt, line.to));
    for (const BoxCopy::Dim &dim : llvm::reverse(outer)) {
      Value at = b.rem(item, dim.size);
      item = b.div(item, dim.size);
      from = b.add(from, b.mul(at, dim.from));
      to = b.add(to, b.mul(at, dim.to));
    }
    from = b.add(from, b.mul(first, run.from));
    to = b.add(to, b.mul(first, run.to));
    if (box.isContiguous())
      return b.copy(b.argument(0), from, b.argument(1), to, count, lanes);
    b.forEach(b.index(0), count, 1, [&](Value at) {
      Value element =
          b.loadScalar(b.argument(0), b.add(from, b.mul(at, run.from)));
      b.storeScalar(element, b.argument(1), b.add(to, b.mul(at, run.to)));
    });
  });
  return b.launch(compiler, kernel, {source.argument, result.argument},
                  tiles.items());
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

namespace {
/// Each line of the result is either all padding, or contains a line of the
/// operand.
class PadEmitter {
public:
  PadEmitter(const PaddedBox &box, Type word, int64_t operand, int64_t result)
      : box(box), run(box.dims.back()), width(bytesOf(word)),
        lanes(lanesFor(run.size, width)),
        // A line that has gaps is one item: its elements are not shared out.
        tiles(LineTiles::of(1, result / run.size, run.size,
                            run.step == 1
                                ? elementsInTask(width)
                                : std::max(elementsInTask(width), run.size),
                            lanes)),
        b(word.getContext(), {{word, operand}, {word, result}}, 0) {
    auto type = VectorType::get({lanes}, word);
    Attribute value = IntegerAttr::get(word, APInt(8 * width, box.value));
    padding = arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
    b.forTiles(tiles, [&](Value, Value line, Value first, Value count) {
      emitLine(line, first, b.add(first, count));
    });
  }

  LayoutBuilder &builder() { return b; }
  int64_t items() const { return tiles.items(); }

private:
  /// Elements [first, last) of a line.
  void emitLine(Value line, Value first, Value last) {
    Value inside, from = b.index(0), stride = b.index(run.count);
    Value to = b.mul(line, run.size), rest = line;
    for (const PaddedBox::Dim &dim :
         llvm::reverse(ArrayRef(box.dims).drop_back())) {
      Value at = b.sub(b.rem(rest, dim.size), b.index(dim.low));
      rest = b.div(rest, dim.size);
      require(inside, b.isBelow(at, b.index(dim.span())));
      if (dim.step != 1) {
        Value gap = b.rem(at, dim.step);
        require(inside, b.isBelow(gap, b.index(1)));
        at = b.div(at, dim.step);
      }
      from = b.add(from, b.times(at, stride));
      stride = b.mul(stride, dim.count);
    }
    if (!inside)
      return emitInside(from, to, first, last);
    b.choose(
        inside, [&] { emitInside(from, to, first, last); },
        [&] { fill(b.add(to, first), b.sub(last, first)); });
  }

  void require(Value &all, Value flag) {
    all = all ? b.createOrFold<arith::AndIOp>(all, flag) : flag;
  }

  /// Emits a part of a line whose operand begins at `from`.
  void emitInside(Value from, Value to, Value first, Value last) {
    if (run.step != 1) {
      fill(b.add(to, first), b.sub(last, first));
      b.forEach(run.count, [&](Value at) {
        Value element = b.loadScalar(b.argument(0), b.add(from, at));
        Value place = b.add(b.add(to, run.low), b.mul(at, run.step));
        b.storeScalar(element, b.argument(1), place);
      });
      return;
    }
    // Where the operand's elements begin and end in this part.
    Value low = clamp(run.low, first, last);
    Value high = clamp(run.low + run.span(), first, last);
    fill(b.add(to, first), b.sub(low, first));
    b.copy(b.argument(0), b.add(from, b.sub(low, b.index(run.low))),
           b.argument(1), b.add(to, low), b.sub(high, low), lanes);
    fill(b.add(to, high), b.sub(last, high));
  }

  Value clamp(int64_t value, Value low, Value high) {
    Value above = b.createOrFold<arith::MaxUIOp>(low, b.index(value));
    return b.createOrFold<arith::MinUIOp>(above, high);
  }

  void fill(Value at, Value count) {
    b.forVectors(count, lanes, [&](Value start, Value mask) {
      b.store(padding, b.argument(1), b.add(at, start), mask);
    });
  }

  const PaddedBox &box;
  PaddedBox::Dim run;
  int64_t width, lanes;
  LineTiles tiles;
  LayoutBuilder b;
  Value padding; ///< a vector of padding
};
} // namespace

LogicalResult mp::cpu::emitPad(const PaddedBox &box, const LayoutTensor &source,
                               const LayoutTensor &result,
                               ObjectCompiler &compiler,
                               EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  PadEmitter emitter(box, wordOf(source.element()), source.count(),
                     result.count());
  return emitter.builder().launch(
      compiler, kernel, {source.argument, result.argument}, emitter.items());
}

//===----------------------------------------------------------------------===//
// Rows by number
//===----------------------------------------------------------------------===//

LogicalResult
mp::cpu::emitGather(const NumberedRows &rows, const LayoutTensor &table,
                    const LayoutTensor &indices, const LayoutTensor &result,
                    ObjectCompiler &compiler, EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  Type word = wordOf(table.element());
  LayoutBuilder b(word.getContext(),
                  {{word, table.count()},
                   {indices.element(), indices.count()},
                   {word, result.count()}},
                  0);
  int64_t width = bytesOf(word), lanes = lanesFor(rows.inner, width);
  auto tiles = LineTiles::of(rows.outer, rows.count, rows.inner,
                             elementsInTask(width), lanes);
  b.forTiles(tiles, [&](Value outer, Value line, Value first, Value count) {
    Value at = rows.batched ? b.add(b.mul(outer, rows.count), line) : line;
    Value row = b.loadIndex(b.argument(1), at);
    Value isRow = b.isBelow(row, b.index(rows.rows));
    // For an index out of range the first row is read, and not used.
    Value read =
        b.add(b.mul(outer, rows.rows), b.select(isRow, row, b.index(0)));
    Value from = b.add(b.mul(read, rows.inner), first);
    Value to =
        b.add(b.mul(b.add(b.mul(outer, rows.count), line), rows.inner), first);
    b.forVectors(count, lanes, [&](Value start, Value mask) {
      Value found = b.load(b.argument(0), b.add(from, start), lanes, mask);
      b.store(b.select(isRow, found, b.zero(word, lanes)), b.argument(2),
              b.add(to, start), mask);
    });
  });
  return b.launch(compiler, kernel,
                  {table.argument, indices.argument, result.argument},
                  tiles.items());
}

LogicalResult mp::cpu::emitScatterRows(const NumberedRows &rows,
                                       const LayoutTensor &updates,
                                       const LayoutTensor &indices,
                                       const LayoutTensor &result,
                                       std::optional<LayoutTensor> flag,
                                       ObjectCompiler &compiler,
                                       EmittedKernel &kernel) {
  if (updates.count() == 0)
    return success();
  Type word = wordOf(result.element());
  SmallVector<LoopBuilder::Argument> arguments{
      {word, updates.count()},
      {indices.element(), indices.count()},
      {word, result.count()}};
  SmallVector<KernelArgument> passed{updates.argument, indices.argument,
                                     result.argument};
  if (flag) {
    arguments.push_back({wordOf(flag->element()), 1});
    passed.push_back(flag->argument);
  }
  LayoutBuilder b(word.getContext(), arguments, 0);
  int64_t width = bytesOf(word), lanes = lanesFor(rows.inner, width);
  auto tiles =
      LineTiles::of(1, rows.count, rows.inner, elementsInTask(width), lanes);
  auto emitRows = [&] {
    b.forTiles(tiles, [&](Value, Value line, Value first, Value count) {
      Value row = b.loadIndex(b.argument(1), line);
      b.choose(b.isBelow(row, b.index(rows.rows)), [&] {
        b.copy(b.argument(0), b.add(b.mul(line, rows.inner), first),
               b.argument(2), b.add(b.mul(row, rows.inner), first), count,
               lanes);
      });
    });
  };
  if (flag)
    b.choose(b.isBelow(b.index(0), b.loadIndex(b.argument(3), b.index(0))),
             emitRows);
  else
    emitRows();
  return b.launch(compiler, kernel, passed, tiles.items());
}
