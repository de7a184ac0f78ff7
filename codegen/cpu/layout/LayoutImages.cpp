//===- LayoutImages.cpp - images moved by numbers of their own ------------===//
#include "codegen/cpu/layout/LayoutBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

LogicalResult
mp::cpu::emitAugment(const MovedImages &size, const LayoutTensor &source,
                     const LayoutTensor &rows, const LayoutTensor &columns,
                     std::optional<LayoutTensor> mirrored,
                     const LayoutTensor &result, ObjectCompiler &compiler,
                     EmittedKernel &kernel) {
  if (result.count() == 0)
    return success();
  Type word = wordOf(source.element());
  SmallVector<LoopBuilder::Argument> arguments{
      {word, source.count()},
      {rows.element(), rows.count()},
      {columns.element(), columns.count()},
      {word, result.count()}};
  SmallVector<KernelArgument> passed{source.argument, rows.argument,
                                     columns.argument, result.argument};
  if (mirrored) {
    arguments.push_back({mirrored->element(), mirrored->count()});
    passed.push_back(mirrored->argument);
  }
  LayoutBuilder b(word.getContext(), arguments, 0);
  int64_t lanes = lanesFor(size.channels, bytesOf(word));
  // A work item is a row of an image.
  b.forEach(b.begin(), b.end(), 1, [&](Value item) {
    Value image = b.div(item, size.height);
    Value row =
        b.add(b.rem(item, size.height), b.loadIndex(b.argument(1), image));
    Value left = b.loadIndex(b.argument(2), image);
    Value hasRow = b.isBelow(row, b.index(size.height));
    Value start = b.mul(b.add(b.mul(image, size.height), row), size.width);
    b.forEach(size.width, [&](Value place) {
      Value from = place;
      if (mirrored)
        from = b.select(b.loadScalar(b.argument(4), image),
                        b.sub(b.index(size.width - 1), place), place);
      from = b.add(from, left);
      Value isInside = arith::AndIOp::create(
          b, hasRow, b.isBelow(from, b.index(size.width)));
      // Outside, the first pixel is read, and not used.
      from = b.select(isInside, b.add(start, from), b.index(0));
      from = b.mul(from, size.channels);
      Value to = b.mul(b.add(b.mul(item, size.width), place), size.channels);
      b.forVectors(b.index(size.channels), lanes, [&](Value at, Value mask) {
        Value found = b.load(b.argument(0), b.add(from, at), lanes, mask);
        b.store(b.select(isInside, found, b.zero(word, lanes)), b.argument(3),
                b.add(to, at), mask);
      });
    });
  });
  return b.launch(compiler, kernel, passed, size.images * size.height,
                  elementsInTask(bytesOf(word)) / (size.width * size.channels));
}
