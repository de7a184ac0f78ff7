//===- KernelFunction.cpp - the shell of a kernel's function --------------===//
#include "codegen/cpu/nest/KernelFunction.h"
#include "codegen/cpu/nest/ScalarBody.h"
#include "dialect/Mp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

KernelFunction::KernelFunction(MLIRContext *context, Location location,
                               Value predicate)
    : b(context), location(location) {
  function.module = ModuleOp::create(b, location);
  b.setInsertionPointToEnd(function.module->getBody());
  Type index = b.getIndexType();
  auto bytes = MemRefType::get({any}, b.getI8Type());
  func = func::FuncOp::create(b, location, "stages",
                              b.getFunctionType({index, index, bytes}, {}));
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);
  begin = entry->getArgument(0);
  end = entry->getArgument(1);
  shared = entry->getArgument(2);
  if (predicate) {
    Value flag = load(memory(predicate, {}), {}, 0, {});
    end = arith::SelectOp::create(b, location, flag, end, begin);
  }
}

Value KernelFunction::memory(Value tensor, ArrayRef<int64_t> shape) {
  Block &entry = func.front();
  auto it = llvm::find(function.arguments, tensor);
  if (it != function.arguments.end())
    return entry.getArgument(it - function.arguments.begin());
  unsigned position = function.arguments.size();
  function.arguments.push_back(tensor);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  MemRefLayoutAttrInterface layout;
  if (RowsAttr rows = RowsAttr::of(tensor.getType())) {
    assert(shape.size() == 2 && "parts are seen as rows and columns");
    layout = StridedLayoutAttr::get(b.getContext(), 0, {rows.getStride(), 1});
  }
  auto type = MemRefType::get(shape, element, layout);
  return entry.insertArgument(position, type, location);
}

Value KernelFunction::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, location, value);
}

Value KernelFunction::add(Value a, Value c) {
  return arith::AddIOp::create(b, location, a, c);
}

SmallVector<Value> KernelFunction::loop(Value lower, Value upper, int64_t step,
                                        ValueRange start, Body body,
                                        Opened opened) {
  Value stride = index(step);
  auto loop = scf::ForOp::create(b, location, lower, upper, stride, start);
  opened(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!start.empty())
    scf::YieldOp::create(b, location, results);
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> KernelFunction::reductionLoop(Value lower, Value upper,
                                                 int64_t step, int64_t steps,
                                                 ArrayRef<Reduction> reductions,
                                                 ValueRange start, Body body,
                                                 Opened opened,
                                                 int64_t stepsInPart) {
  bool hasSums = llvm::any_of(reductions, [](const Reduction &reduction) {
    return isa<arith::AddFOp>(reduction.combiner);
  });
  if (!hasSums || steps <= stepsInPart)
    return loop(lower, upper, step, start, body, opened);
  auto part = [&](Value first, ValueRange totals) {
    SmallVector<Value> zeros;
    for (auto [reduction, total] : llvm::zip_equal(reductions, totals)) {
      auto vector = dyn_cast<VectorType>(total.getType());
      zeros.push_back(constant(b, location, reduction.neutral,
                               vector ? vector.getNumElements() : 0));
    }
    SmallVector<Value> sums;
    if (stepsInPart == 1) {
      sums = body(first, zeros);
    } else {
      Value last = arith::MinSIOp::create(
          b, location, add(first, index(step * stepsInPart)), upper);
      sums = loop(first, last, step, zeros, body);
    }
    for (auto [reduction, sum, total] :
         llvm::zip_equal(reductions, sums, totals))
      sum = combine(b, reduction.combiner, total, sum);
    return sums;
  };
  return reductionLoop(lower, upper, step * stepsInPart,
                       llvm::divideCeil(steps, stepsInPart), reductions, start,
                       part, opened);
}

Value KernelFunction::load(Value memref, ValueRange indices, int64_t lanes,
                           Value mask) {
  if (!lanes)
    return memref::LoadOp::create(b, location, memref, indices);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get({lanes}, element);
  if (!mask)
    return vector::LoadOp::create(b, location, type, memref, indices);
  TypedAttr one = isa<FloatType>(element)
                      ? TypedAttr(b.getFloatAttr(element, 1.0))
                      : TypedAttr(b.getIntegerAttr(element, 1));
  return vector::MaskedLoadOp::create(b, location, type, memref, indices, mask,
                                      constant(b, location, one, lanes));
}

void KernelFunction::store(Value value, Value memref, ValueRange indices,
                           Value mask) {
  if (!isa<VectorType>(value.getType()))
    memref::StoreOp::create(b, location, value, memref, indices);
  else if (mask)
    vector::MaskedStoreOp::create(b, location, memref, indices, mask, value);
  else
    vector::StoreOp::create(b, location, value, memref, indices);
}

void KernelFunction::prefetch(Value memref, ValueRange indices, bool isWrite) {
  memref::PrefetchOp::create(b, location, memref, indices, isWrite,
                             /*localityHint=*/2, /*isDataCache=*/true);
}

Value KernelFunction::scratch(int64_t count, Type element) {
  // i1 takes a byte.
  int64_t width = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  Value offset = index(function.shared);
  function.shared += llvm::alignTo(count * width, 64);
  return memref::ViewOp::create(b, location, MemRefType::get({count}, element),
                                shared, offset, ValueRange());
}

StageFunction KernelFunction::finish(int64_t grid, int64_t block) {
  func::ReturnOp::create(b, location);
  Block &entry = func.front();
  if (!function.shared)
    entry.eraseArgument(entry.getNumArguments() - 1);
  func.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  function.grid = grid;
  function.block = block;
  return std::move(function);
}
