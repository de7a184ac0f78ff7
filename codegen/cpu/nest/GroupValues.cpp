//===- GroupValues.cpp - where a group's values come from -----------------===//
//
// Memory, a stage's body, a kept row.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/nest/GroupNest.h"
#include "codegen/cpu/nest/Largest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

static int64_t elementBytes(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}
static int64_t bytesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements() *
         elementBytes(tensor);
}

int64_t GroupNest::chooseLanes() const {
  int64_t columns = std::max<int64_t>(group.columns, 1);
  if (columns <= 16)
    return 16;
  // Vectors of 64 pay if almost only 16-bit elements move.
  auto isNarrow = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getRank() == 0 ||
           type.getElementType().getIntOrFloatBitWidth() <= 16;
  };
  bool narrow = group.schedule == LoopSchedule::Flat &&
                llvm::all_of(group.outputs, isNarrow) && columns >= 64;
  // They also pay if rows are summed up: more sums, shorter chains.
  bool sumsRows = group.schedule == LoopSchedule::Rows && columns >= 256;
  return narrow || sumsRows ? 64 : 32;
}

int64_t GroupNest::blockSize() const {
  if (group.hasTerminals())
    return group.chunk();
  constexpr int64_t elements = 32768;
  int64_t share =
      std::max<int64_t>(elements / std::max<int64_t>(group.innerSize(), 1), 1);
  return lanesAreOuter() ? int64_t(llvm::alignTo(share, lanes)) : share;
}

SmallVector<Value> GroupNest::indices(Space space) {
  switch (space) {
  case Space::Scalar:
    return {};
  case Space::Row:
    return {rowIndex()};
  case Space::Column:
    return {columnIndex()};
  case Space::Full:
    return {rowIndex(), columnIndex()};
  }
  llvm_unreachable("all spaces handled");
}

/// The place in memory of the element of `tensor` here.
SmallVector<Value> GroupNest::placeOf(Value tensor, Space space) {
  SmallVector<Value> place = indices(space);
  if (AffineExpr row = group.repeatedRows.lookup(tensor))
    place.front() = affine::AffineApplyOp::create(
        f.b, f.location, AffineMap::get(1, 0, row), place.front());
  return place;
}

Value GroupNest::memory(Value tensor, Space space) {
  if (space == Space::Scalar)
    return f.memory(tensor, {});
  if (space == Space::Full)
    return f.memory(tensor, {KernelFunction::any, group.columns});
  return f.memory(tensor, {KernelFunction::any});
}

/// The value of `tensor` at this point of the nest.
Value GroupNest::value(Value tensor) {
  if (TypedAttr attr = constantOf(tensor))
    return constant(f.b, f.location, attr, 0);
  Space space = group.spaces.lookup(tensor);
  Scope &scope = scopeOf(group.role(space));
  if (Value known = scope.values.lookup(tensor))
    return known;
  OpBuilder::InsertionGuard guard(f.b);
  if (scope.open)
    f.b.setInsertionPoint(scope.open);
  const Stage *stage = group.producer(tensor);
  if (stage && stage->buffered && stage->level < level)
    scope.values[tensor] = f.load(buffers.lookup(tensor), {inner}, lanes, {});
  else if (stage)
    computeMap(*stage, scope);
  else {
    if (isStream(space) && !group.repeatedRows.contains(tensor))
      readStreams.insert(tensor);
    scope.values[tensor] =
        f.load(memory(tensor, space), placeOf(tensor, space),
               isVector(space) ? lanes : 0, isVector(space) ? mask : Value());
  }
  return scope.values.lookup(tensor);
}

/// The one term of a sum that is not zero, at the outer index.
Value GroupNest::picked(const Stage &stage, const Pick &pick) {
  OpBuilder &b = f.b;
  Value column = value(pick.column);
  Value size = constant(b, f.location,
                        b.getIntegerAttr(column.getType(), group.columns), 0);
  Value isInside = arith::CmpIOp::create(
      b, f.location, arith::CmpIPredicate::ult, column, size);
  Value place =
      arith::IndexCastOp::create(b, f.location, b.getIndexType(), column);
  // The value is computed as in the loop, for one lane.
  Scope loop = std::exchange(scopes[2], Scope());
  auto outside = std::make_tuple(inner, mask, lanes);
  inner = arith::SelectOp::create(b, f.location, isInside, place, f.index(0));
  mask = nullptr;
  lanes = 0;
  Value term = value(pick.from);
  std::tie(inner, mask, lanes) = outside;
  scopes[2] = std::move(loop);

  Value zero = constant(b, f.location, b.getFloatAttr(term.getType(), 0), 0);
  Value sum = arith::SelectOp::create(b, f.location, isInside, term, zero);
  // The sum with the other terms, which are zeros, is no negative zero.
  sum = arith::AddFOp::create(b, f.location, sum, zero);
  linalg::GenericOp op = stage.op;
  return combine(b, matchReduction(op)->combiner, value(op.getDpsInits()[0]),
                 sum);
}

/// Prefetches the streams half a page ahead, if they do not fit a second-level
/// cache: computing takes long enough that the hardware's own prefetching does
/// not cover the latency of memory, and it stops at the end of a page. A whole
/// page ahead, softmax was slower by a fifteenth.
void GroupNest::prefetchStreams(bool reads, bool writes) {
  constexpr int64_t ahead = 2048, line = 64, cache = 1 << 20;
  int64_t size = 0;
  for (const auto &streams : {readStreams, writtenStreams})
    for (Value tensor : streams)
      size += bytesOf(tensor);
  // The rest of a row counts: a line that nothing prefetched would stall each
  // row by the latency of memory.
  if ((mask && lanesAreOuter()) || size <= cache)
    return;
  auto fetch = [&](Value tensor, bool isWrite) {
    int64_t bytes = elementBytes(tensor);
    bool isFlat = group.schedule == LoopSchedule::Flat;
    Value row =
        isFlat ? Value()
               : f.add(rowIndex(),
                       f.index(llvm::divideCeil(ahead, group.columns * bytes)));
    Space space = isFlat ? Space::Column : Space::Full;
    for (int64_t at = 0; at < lanes * bytes; at += line) {
      int64_t offset = at / bytes + (isFlat ? ahead / bytes : 0);
      Value column = f.add(columnIndex(), f.index(offset));
      SmallVector<Value> place =
          isFlat ? SmallVector<Value>{column} : SmallVector<Value>{row, column};
      f.prefetch(memory(tensor, space), place, isWrite);
    }
  };
  if (reads)
    for (Value tensor : readStreams)
      if (!writtenStreams.contains(tensor))
        fetch(tensor, false);
  if (writes)
    for (Value tensor : writtenStreams)
      fetch(tensor, true);
}

SmallVector<Value> GroupNest::arguments(const Stage &stage) {
  linalg::GenericOp op = stage.op;
  SmallVector<Value> arguments(op.getBody()->getNumArguments());
  for (OpOperand *read : readsOf(op))
    arguments[op.getMatchingBlockArgument(read).getArgNumber()] =
        value(read->get());
  return arguments;
}

BodyPoint GroupNest::point(const Stage &stage) {
  BodyPoint point;
  if (isVector(stage.domain)) {
    point.lanes = lanes;
    point.mask = mask;
    point.laneLoop = stage.domain == Space::Full ? 1 : 0;
    point.isAligned = true; // blocks and chunks are whole vectors
    // The rest of a row is apart from whole vectors in each pass.
    point.isPaired = isPaired && !mask && lanes > 16;
  }
  point.indices = indices(stage.domain);
  return point;
}

void GroupNest::computeMap(const Stage &stage, Scope &scope) {
  linalg::GenericOp op = stage.op;
  SmallVector<Value> results =
      cloneBody(f.b, op, arguments(stage),
                op.getBody()->getTerminator()->getOperands(), point(stage));
  for (auto [tensor, result] : llvm::zip_equal(op.getResults(), results))
    scope.values[tensor] = result;
}

/// Returns how a stage reduces here: floats, or their keys.
Reduction GroupNest::reductionOf(const Stage &stage) const {
  Reduction reduction = *matchReduction(stage.op);
  if (Value from = largest.lookup(stage.op))
    reduction.neutral = leastKey(getElementTypeOrSelf(from.getType()));
  return reduction;
}

/// Returns the value that a reduction adds at this point.
Value GroupNest::element(const Stage &stage, const Reduction &reduction) {
  if (Value from = largest.lookup(stage.op))
    return keysOf(f.b, value(from));
  Value element = cloneBody(f.b, stage.op, arguments(stage), reduction.element,
                            point(stage))
                      .front();
  return isVector(stage.domain) ? broadcast(f.b, element, lanes) : element;
}

Value GroupNest::accumulate(Operation *combiner, Value accumulator,
                            Value element) {
  Value next = combine(f.b, combiner, accumulator, element);
  if (!mask || !isa<VectorType>(next.getType()))
    return next;
  return arith::SelectOp::create(f.b, f.location, mask, next, accumulator);
}
