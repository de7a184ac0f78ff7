//===- LayoutBuilder.cpp - loops over tiles of rows -----------------------===//
#include "codegen/cpu/layout/LayoutBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

LineTiles LineTiles::of(int64_t outer, int64_t lines, int64_t run,
                        int64_t elements, int64_t lanes) {
  LineTiles tiles{outer, lines, run, 1, run};
  // A run a little longer than a tile does not need a second one.
  int64_t most = llvm::alignTo(std::max<int64_t>(elements, 1), lanes);
  if (run > 2 * most)
    tiles.runBlock = most;
  tiles.lineBlock =
      std::clamp<int64_t>(elements / std::max<int64_t>(tiles.runBlock, 1), 1,
                          std::max<int64_t>(lines, 1));
  tiles.runBlock = std::max<int64_t>(tiles.runBlock, 1);
  return tiles;
}

int64_t mp::cpu::lanesFor(int64_t run, int64_t elementBytes, int64_t bytes) {
  uint64_t wanted = std::clamp<int64_t>(run, 1, bytes / elementBytes);
  return llvm::PowerOf2Ceil(wanted);
}

Type mp::cpu::wordOf(Type element) {
  return IntegerType::get(element.getContext(), 8 * bytesOf(element));
}

void LayoutBuilder::forTiles(
    const LineTiles &tiles,
    function_ref<void(Value, Value, Value, Value)> body) {
  forEach(begin(), end(), 1, [&](Value item) {
    Value run = mul(rem(item, tiles.runBlocks()), tiles.runBlock);
    Value rest = div(item, tiles.runBlocks());
    Value first = mul(rem(rest, tiles.lineBlocks()), tiles.lineBlock);
    Value outer = div(rest, tiles.lineBlocks());
    Value last = min(add(first, tiles.lineBlock), tiles.lines);
    Value count = min(sub(index(tiles.run), run), tiles.runBlock);
    forEach(first, last, 1, [&](Value line) { body(outer, line, run, count); });
  });
}

void LayoutBuilder::choose(Value flag, function_ref<void()> then,
                           function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, flag, bool(otherwise));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value LayoutBuilder::select(Value flag, Value x, Value y) {
  return arith::SelectOp::create(*this, flag, x, y);
}
Value LayoutBuilder::times(Value x, Value y) {
  return createOrFold<arith::MulIOp>(x, y);
}

Value LayoutBuilder::loadScalar(const FlatMemory &buffer, Value at) {
  return memref::LoadOp::create(*this, buffer.memref, at);
}
void LayoutBuilder::storeScalar(Value value, const FlatMemory &buffer,
                                Value at) {
  memref::StoreOp::create(*this, value, buffer.memref, at);
}

Value LayoutBuilder::loadIndex(const FlatMemory &indices, Value at) {
  Value element = loadScalar(indices, at);
  if (indices.isUnsigned)
    return arith::IndexCastUIOp::create(*this, getIndexType(), element);
  return arith::IndexCastOp::create(*this, getIndexType(), element);
}

void LayoutBuilder::copy(const FlatMemory &source, Value from,
                         const FlatMemory &result, Value to, Value count,
                         int64_t lanes) {
  forVectors(count, lanes, [&](Value start, Value mask) {
    store(load(source, add(from, start), lanes, mask), result, add(to, start),
          mask);
  });
}

Value LayoutBuilder::sum(Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::AddFOp::create(*this, x, y);
  return arith::AddIOp::create(*this, x, y);
}

LogicalResult LayoutBuilder::launch(ObjectCompiler &compiler,
                                    EmittedKernel &kernel,
                                    ArrayRef<KernelArgument> arguments,
                                    int64_t items, int64_t itemsInTask) {
  FailureOr<std::string> symbol = compiler.compile(take());
  if (failed(symbol))
    return failure();
  KernelLaunch launch;
  launch.symbol = std::move(*symbol);
  launch.grid = items;
  launch.block = std::clamp<int64_t>(itemsInTask, 1, items);
  launch.arguments = SmallVector<KernelArgument>(arguments);
  kernel.launches.push_back(std::move(launch));
  return success();
}
