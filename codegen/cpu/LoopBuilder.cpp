//===- LoopBuilder.cpp - loops over memory, written by hand ---------------===//
#include "codegen/cpu/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

LoopBuilder::LoopBuilder(MLIRContext *context, ArrayRef<Argument> arguments,
                         int64_t sharedBytes)
    : ImplicitLocOpBuilder(UnknownLoc::get(context), context) {
  module = ModuleOp::create(getLoc());
  SmallVector<Type> types;
  for (const Argument &argument : arguments) {
    Type element = argument.element;
    if (auto integer = dyn_cast<IntegerType>(element))
      element = getIntegerType(integer.getWidth());
    types.push_back(MemRefType::get({argument.count}, element));
  }
  types.append(2, getIndexType());
  if (sharedBytes)
    types.push_back(MemRefType::get({sharedBytes}, getI8Type()));

  setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(*this, "kernel", getFunctionType(types, {}));
  setInsertionPointToStart(function.addEntryBlock());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    function.setArgAttr(i, "llvm.noalias", getUnitAttr());
    this->arguments.push_back({function.getArgument(i),
                               cast<MemRefType>(types[i]).getElementType(),
                               argument.element.isUnsignedInteger()});
  }
}

OwningOpRef<ModuleOp> LoopBuilder::take() {
  func::ReturnOp::create(*this);
  return std::move(module);
}

FlatMemory LoopBuilder::scratch(Type element, int64_t byteOffset,
                                int64_t count) {
  Value shared = function.getArgument(function.getNumArguments() - 1);
  Value view = memref::ViewOp::create(*this, MemRefType::get({count}, element),
                                      shared, index(byteOffset), ValueRange());
  return {view, element, false};
}

Value LoopBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
Value LoopBuilder::add(Value x, Value y) {
  return createOrFold<arith::AddIOp>(x, y);
}
Value LoopBuilder::sub(Value x, Value y) {
  return createOrFold<arith::SubIOp>(x, y);
}
Value LoopBuilder::mul(Value x, int64_t y) {
  return createOrFold<arith::MulIOp>(x, index(y));
}
Value LoopBuilder::min(Value x, int64_t y) {
  return createOrFold<arith::MinUIOp>(x, index(y));
}
Value LoopBuilder::div(Value x, int64_t y) {
  return createOrFold<arith::DivUIOp>(x, index(y));
}
Value LoopBuilder::rem(Value x, int64_t y) {
  return createOrFold<arith::RemUIOp>(x, index(y));
}

void LoopBuilder::forEach(Value from, Value to, int64_t step, Body body) {
  auto loop = scf::ForOp::create(*this, from, to, index(step));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void LoopBuilder::forVectors(Value count, int64_t lanes,
                             function_ref<void(Value start, Value mask)> body) {
  Value rest = rem(count, lanes);
  Value full = sub(count, rest);
  forEach(index(0), full, lanes, [&](Value start) { body(start, Value()); });
  Value any =
      arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, rest, index(0));
  auto branch = scf::IfOp::create(*this, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body(full, firstLanes(rest, lanes));
}

SmallVector<Value>
LoopBuilder::fold(Value from, Value to, ValueRange start,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(*this, from, to, index(1), start);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value LoopBuilder::isBelow(Value x, Value y) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ult, x, y);
}
Value LoopBuilder::firstLanes(Value count, int64_t lanes) {
  SmallVector<int32_t> lane(lanes);
  std::iota(lane.begin(), lane.end(), 0);
  Value iota = arith::ConstantOp::create(*this, getI32VectorAttr(lane));
  Value limit = arith::IndexCastOp::create(*this, getI32Type(), count);
  Value limits = vector::BroadcastOp::create(*this, iota.getType(), limit);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, iota, limits);
}

Value LoopBuilder::maskFor(Value at, int64_t count, int64_t multiple,
                           int64_t lanes) {
  if (count % multiple == 0)
    return {};
  return firstLanes(sub(index(count), at), lanes);
}

void LoopBuilder::ifElse(Value condition, function_ref<void()> then,
                         function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
  setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

void LoopBuilder::prefetch(const FlatMemory &buffer, Value at) {
  memref::PrefetchOp::create(*this, buffer.memref, at, /*isWrite=*/false,
                             /*localityHint=*/2, /*isDataCache=*/true);
}

Value LoopBuilder::zero(Type element, int64_t lanes) {
  auto type = VectorType::get({lanes}, element);
  return arith::ConstantOp::create(*this, cast<TypedAttr>(getZeroAttr(type)));
}

Value LoopBuilder::load(const FlatMemory &buffer, Value at, int64_t lanes,
                        Value mask) {
  auto type = VectorType::get({lanes}, buffer.element);
  if (!mask)
    return vector::LoadOp::create(*this, type, buffer.memref, at);
  Value none = zero(buffer.element, lanes);
  return vector::MaskedLoadOp::create(*this, type, buffer.memref, at, mask,
                                      none);
}

void LoopBuilder::store(Value vector, const FlatMemory &buffer, Value at,
                        Value mask) {
  if (mask)
    vector::MaskedStoreOp::create(*this, buffer.memref, at, mask, vector);
  else
    vector::StoreOp::create(*this, vector, buffer.memref, at);
}

/// Converts `x` to elements of type `element`.
static Value convert(LoopBuilder &b, Value x, Type element, bool isUnsigned) {
  auto from = cast<VectorType>(x.getType());
  VectorType to = from.clone(element);
  unsigned have = from.getElementTypeBitWidth(),
           want = to.getElementTypeBitWidth();
  if (from == to)
    return x;
  if (isa<FloatType>(element)) {
    if (have < want)
      return arith::ExtFOp::create(b, to, x);
    return arith::TruncFOp::create(b, to, x);
  }
  if (have > want)
    return arith::TruncIOp::create(b, to, x);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, to, x);
  return arith::ExtSIOp::create(b, to, x);
}

Value LoopBuilder::loadAs(Type element, const FlatMemory &buffer, Value at,
                          int64_t lanes, Value mask) {
  return convert(*this, load(buffer, at, lanes, mask), element,
                 buffer.isUnsigned);
}

void LoopBuilder::storeAs(Value vector, const FlatMemory &buffer, Value at,
                          Value mask) {
  store(convert(*this, vector, buffer.element, false), buffer, at, mask);
}

Value LoopBuilder::loadSplat(const FlatMemory &buffer, Value at,
                             int64_t lanes) {
  Value scalar = memref::LoadOp::create(*this, buffer.memref, at);
  return vector::BroadcastOp::create(
      *this, VectorType::get({lanes}, buffer.element), scalar);
}

void LoopBuilder::transposeSquare(MutableArrayRef<Value> rows) {
  int64_t side = rows.size();
  for (int64_t s = 1; s < side; s *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < side; ++lane) {
      bool upper = lane & s;
      low.push_back(upper ? side + lane - s : lane);
      high.push_back(upper ? side + lane : lane + s);
    }
    for (int64_t i = 0; i < side; ++i) {
      if (i & s)
        continue;
      Value x = rows[i], y = rows[i + s];
      rows[i] = vector::ShuffleOp::create(*this, x, y, low);
      rows[i + s] = vector::ShuffleOp::create(*this, x, y, high);
    }
  }
}
