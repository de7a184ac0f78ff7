// Loops for a group: outer indices, passes over the inner one, and in them the
// stages' bodies. A value is computed where its role says (before the nest, at
// the outer index, in the inner loop) when it is first asked for.
#include "codegen/cpu/GroupEmitter.h"
#include "codegen/cpu/KernelFunction.h"
#include "codegen/cpu/ScalarBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

/// What has been computed at one depth of the nest.
struct Scope {
  llvm::DenseMap<Value, Value> values;
  /// The op of this depth that is being filled; new values go before it.
  Operation *open = nullptr;
};

class GroupEmitter {
public:
  GroupEmitter(const StageGroup &group, Value predicate)
      : group(group), f(group.stages.front().op->getContext(),
                        group.stages.front().op->getLoc(), predicate),
        lanes(chooseLanes()) {}

  StageFunction emit();

private:
  // Shape of the code.
  int64_t chooseLanes() const;
  int64_t blockSize() const;
  bool lanesAreOuter() const {
    return group.schedule == Schedule::Flat ||
           group.schedule == Schedule::Columns;
  }
  /// A row of one vector: its values stay in registers from pass to pass.
  bool keepsRow() const { return !lanesAreOuter() && group.columns <= lanes; }
  bool isVector(Space space) const {
    return space == Space::Column || space == Space::Full;
  }

  // Values.
  Scope &scopeOf(Role role) {
    return scopes[std::min<unsigned>(unsigned(role), 2)];
  }
  Value value(Value tensor);
  void computeMap(const Stage &stage, Scope &scope);
  Value element(const Stage &stage, const Reduction &reduction);
  SmallVector<Value> arguments(const Stage &stage);
  BodyPoint point(const Stage &stage);
  Value memory(Value tensor, Space space);
  SmallVector<Value> indices(Space space);
  Value rowIndex() const {
    return group.schedule == Schedule::Rows ? outer : inner;
  }
  Value columnIndex() const { return lanesAreOuter() ? outer : inner; }

  // Loops.
  using Values = SmallVector<Value>;
  Values chunkLoop();
  Values outerRange(Value lower, Value upper, Values totals);
  Values outerBody(Values totals);
  Values pass(unsigned level, Values totals);
  Values innerRange(Values start, llvm::function_ref<Values(Values)> body);
  Values passBody(unsigned level, Values accumulators);
  void finishReductions(unsigned level, Values accumulators);

  // Terminals.
  Values startTotals();
  void clearSums();
  void storeTotals(Values totals);
  Value partial(const Stage &stage);
  bool isSumsInMemory(const Stage &stage) const {
    return stage.terminal && group.role(stage.result) != Role::Global;
  }
  template <typename Fn> void forEachTotal(Fn fn);
  Value accumulate(Operation *combiner, Value accumulator, Value element);

  const StageGroup &group;
  KernelFunction f;
  int64_t lanes;
  Scope scopes[3]; ///< Global, Outer, Inner and Full
  Value outer, inner, mask, chunkIndex;
  unsigned level = 0;
  llvm::DenseMap<Value, Value> buffers;
};

int64_t GroupEmitter::chooseLanes() const {
  int64_t columns = std::max<int64_t>(group.columns, 1);
  if (columns <= 16)
    return 16;
  // Vectors of 64 pay where little but 16-bit elements move.
  auto isNarrow = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getRank() == 0 ||
           type.getElementType().getIntOrFloatBitWidth() <= 16;
  };
  bool narrow = group.schedule == Schedule::Flat &&
                llvm::all_of(group.outputs, isNarrow) && columns >= 64;
  return narrow ? 64 : 32;
}

int64_t GroupEmitter::blockSize() const {
  if (group.hasTerminals())
    return group.chunk();
  constexpr int64_t elements = 32768;
  int64_t share =
      std::max<int64_t>(elements / std::max<int64_t>(group.innerSize(), 1), 1);
  return lanesAreOuter() ? int64_t(llvm::alignTo(share, lanes)) : share;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<Value> GroupEmitter::indices(Space space) {
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

Value GroupEmitter::memory(Value tensor, Space space) {
  if (space == Space::Scalar)
    return f.memory(tensor, {});
  if (space == Space::Full)
    return f.memory(tensor, {KernelFunction::any, group.columns});
  return f.memory(tensor, {KernelFunction::any});
}

/// The value of `tensor` at this point of the nest.
Value GroupEmitter::value(Value tensor) {
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
  else
    scope.values[tensor] =
        f.load(memory(tensor, space), indices(space),
               isVector(space) ? lanes : 0, isVector(space) ? mask : Value());
  return scope.values.lookup(tensor);
}

SmallVector<Value> GroupEmitter::arguments(const Stage &stage) {
  linalg::GenericOp op = stage.op;
  SmallVector<Value> arguments(op.getBody()->getNumArguments());
  for (OpOperand *read : readsOf(op))
    arguments[op.getMatchingBlockArgument(read).getArgNumber()] =
        value(read->get());
  return arguments;
}

BodyPoint GroupEmitter::point(const Stage &stage) {
  BodyPoint point;
  if (isVector(stage.domain)) {
    point.lanes = lanes;
    point.mask = mask;
    point.laneLoop = stage.domain == Space::Full ? 1 : 0;
  }
  point.indices = indices(stage.domain);
  return point;
}

void GroupEmitter::computeMap(const Stage &stage, Scope &scope) {
  linalg::GenericOp op = stage.op;
  SmallVector<Value> results =
      cloneBody(f.b, op, arguments(stage),
                op.getBody()->getTerminator()->getOperands(), point(stage));
  for (auto [tensor, result] : llvm::zip_equal(op.getResults(), results))
    scope.values[tensor] = result;
}

/// What a reduction adds at this point.
Value GroupEmitter::element(const Stage &stage, const Reduction &reduction) {
  Value element = cloneBody(f.b, stage.op, arguments(stage), reduction.element,
                            point(stage))
                      .front();
  return isVector(stage.domain) ? broadcast(f.b, element, lanes) : element;
}

Value GroupEmitter::accumulate(Operation *combiner, Value accumulator,
                               Value element) {
  Value next = combine(f.b, combiner, accumulator, element);
  if (!mask || !isa<VectorType>(next.getType()))
    return next;
  return arith::SelectOp::create(f.b, f.location, mask, next, accumulator);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Calls `fn(stage, reduction)` for each reduction to one value of the chunk.
template <typename Fn> void GroupEmitter::forEachTotal(Fn fn) {
  for (const Stage &stage : group.stages)
    if (stage.terminal && !isSumsInMemory(stage))
      fn(stage, *matchReduction(stage.op));
}

StageFunction GroupEmitter::emit() {
  for (const Stage &stage : group.stages)
    if (stage.buffered && !keepsRow())
      for (Value result : stage.op->getResults())
        buffers[result] = f.scratch(
            llvm::alignTo(group.columns, lanes),
            cast<RankedTensorType>(result.getType()).getElementType());
  if (group.hasTerminals())
    chunkLoop();
  else
    outerRange(f.begin, f.end, {});
  return f.finish(group.outerSize(), blockSize());
}

/// Each chunk of outer indices makes its own partial results, however many
/// chunks a call is given.
GroupEmitter::Values GroupEmitter::chunkLoop() {
  int64_t size = group.chunk();
  auto body = [&](Value lower, ValueRange) -> Values {
    Value upper = arith::MinSIOp::create(f.b, f.location,
                                         f.add(lower, f.index(size)), f.end);
    chunkIndex = arith::DivUIOp::create(f.b, f.location, lower, f.index(size));
    clearSums();
    Values totals = outerRange(lower, upper, startTotals());
    storeTotals(totals);
    return {};
  };
  return f.loop(f.begin, f.end, size, {}, body,
                [&](Operation *op) { scopes[0].open = op; });
}

GroupEmitter::Values GroupEmitter::outerRange(Value lower, Value upper,
                                              Values totals) {
  bool isTop = !group.hasTerminals();
  auto opened = [&](Operation *op) {
    if (isTop)
      scopes[0].open = op;
  };
  auto body = [&](Value index, ValueRange values) {
    outer = index;
    return outerBody(llvm::to_vector(values));
  };
  if (!lanesAreOuter())
    return f.loop(lower, upper, 1, totals, body, opened);

  Value size = arith::SubIOp::create(f.b, f.location, upper, lower);
  Value rest = arith::RemUIOp::create(f.b, f.location, size, f.index(lanes));
  Value last = arith::SubIOp::create(f.b, f.location, upper, rest);
  totals = f.loop(lower, last, lanes, totals, body, opened);
  // The rest, masked: a loop of one step or none.
  auto masked = [&](Value index, ValueRange values) {
    mask = lanesBelow(f.b, f.location, rest, lanes);
    Values results = body(index, values);
    mask = nullptr;
    return results;
  };
  return f.loop(last, upper, lanes, totals, masked, opened);
}

/// Everything at one outer index: its passes, then what it stores.
GroupEmitter::Values GroupEmitter::outerBody(Values totals) {
  scopes[1].values.clear();
  scopes[2].values.clear();
  for (level = 0; level < group.levels(); ++level)
    totals = pass(level, std::move(totals));

  size_t i = 0;
  forEachTotal([&](const Stage &stage, const Reduction &reduction) {
    if (group.role(stage.domain) == Role::Outer)
      totals[i] =
          accumulate(reduction.combiner, totals[i], element(stage, reduction));
    ++i;
  });
  SmallVector<std::pair<Value, Value>> stores;
  for (Value output : group.outputs)
    if (const Stage *stage = group.producer(output);
        !stage->terminal && group.role(output) == Role::Outer)
      stores.emplace_back(output, value(output));
  for (auto [output, result] : stores) {
    Space space = group.spaces.lookup(output);
    f.store(broadcast(f.b, result, isVector(space) ? lanes : 0),
            memory(output, space), indices(space),
            isVector(space) ? mask : Value());
  }
  return totals;
}

/// One pass over the inner index. Accumulators are the totals, then those of
/// the reductions that end here.
GroupEmitter::Values GroupEmitter::pass(unsigned level, Values totals) {
  bool hasWork = llvm::any_of(group.stages, [&](const Stage &stage) {
    return group.isWorkOf(stage, level);
  });
  if (!hasWork)
    return totals;
  Values accumulators = totals;
  for (const Stage &stage : group.stages)
    if (stage.reduction && !stage.terminal && group.isWorkOf(stage, level))
      accumulators.push_back(
          constant(f.b, f.location, matchReduction(stage.op)->neutral, lanes));
  accumulators = innerRange(std::move(accumulators), [&](Values values) {
    return passBody(level, std::move(values));
  });
  finishReductions(level,
                   Values(ArrayRef(accumulators).drop_front(totals.size())));
  accumulators.truncate(totals.size());
  return accumulators;
}

GroupEmitter::Values
GroupEmitter::innerRange(Values start,
                         llvm::function_ref<Values(Values)> body) {
  auto opened = [&](Operation *op) { scopes[1].open = op; };
  auto step = [&](Value index, ValueRange values) {
    scopes[2].values.clear();
    inner = index;
    return body(llvm::to_vector(values));
  };
  Values results = std::move(start);
  if (lanesAreOuter()) {
    results = f.loop(f.index(0), f.index(group.rows), 1, results, step, opened);
  } else {
    int64_t rest = keepsRow() ? group.columns : group.columns % lanes;
    int64_t last = group.columns - rest;
    if (last)
      results = f.loop(f.index(0), f.index(last), lanes, results, step, opened);
    scopes[1].open = nullptr;
    if (rest) {
      if (last)
        scopes[2].values.clear();
      inner = f.index(last);
      mask = rest < lanes ? lanesBelow(f.b, f.location, rest, lanes) : Value();
      results = body(std::move(results));
      mask = nullptr;
    }
  }
  scopes[1].open = nullptr;
  return results;
}

/// One step of a pass. Nothing is stored before all is computed, so that a
/// result may take the place of an operand.
GroupEmitter::Values GroupEmitter::passBody(unsigned level,
                                            Values accumulators) {
  SmallVector<std::tuple<Value, Value, Values, Value>> stores;
  auto store = [&](Value value, Value memref, Values at, Value under) {
    stores.emplace_back(value, memref, std::move(at), under);
  };
  size_t total = 0, own = 0;
  forEachTotal([&](const Stage &, const Reduction &) { ++own; });
  for (const Stage &stage : group.stages) {
    bool isTotal = stage.terminal && !isSumsInMemory(stage);
    size_t at = isTotal ? total++ : 0;
    if (!group.isWorkOf(stage, level))
      continue;
    if (!stage.reduction) {
      for (Value result : stage.op->getResults()) {
        Value computed = broadcast(f.b, value(result), lanes);
        if (group.stores(result))
          store(computed, memory(result, stage.domain), indices(stage.domain),
                mask);
        if (stage.buffered && !keepsRow())
          store(computed, buffers.lookup(result), {inner}, {});
      }
      continue;
    }
    Reduction reduction = *matchReduction(stage.op);
    Value next = element(stage, reduction);
    if (isSumsInMemory(stage)) {
      Values place = {chunkIndex, inner};
      Value sums = partial(stage);
      Value before = f.load(sums, place, lanes, mask);
      store(combine(f.b, reduction.combiner, before, next), sums, place, mask);
    } else {
      at = isTotal ? at : own++;
      accumulators[at] = accumulate(reduction.combiner, accumulators[at], next);
    }
  }
  for (auto &[value, memref, at, under] : stores)
    f.store(value, memref, at, under);
  return accumulators;
}

void GroupEmitter::finishReductions(unsigned level, Values accumulators) {
  size_t i = 0;
  for (const Stage &stage : group.stages) {
    if (!stage.reduction || stage.terminal || !group.isWorkOf(stage, level))
      continue;
    Operation *combiner = matchReduction(stage.op)->combiner;
    Value result = accumulators[i++];
    if (!isVector(stage.result))
      result = combineLanes(f.b, combiner, result);
    linalg::GenericOp op = stage.op;
    Value start = broadcast(f.b, value(op.getDpsInits()[0]),
                            isVector(stage.result) ? lanes : 0);
    scopes[1].values[op->getResult(0)] = combine(f.b, combiner, start, result);
  }
}

//===----------------------------------------------------------------------===//
// Terminals
//===----------------------------------------------------------------------===//

/// Where the chunk's result goes: the result itself where there is one chunk
/// only.
Value GroupEmitter::partial(const Stage &stage) {
  Value tensor = stage.op->getResult(0);
  if (isSumsInMemory(stage))
    return f.memory(tensor, {KernelFunction::any, group.columns});
  return f.memory(tensor, {KernelFunction::any});
}

GroupEmitter::Values GroupEmitter::startTotals() {
  Values totals;
  forEachTotal([&](const Stage &stage, const Reduction &reduction) {
    totals.push_back(constant(f.b, f.location, reduction.neutral,
                              isVector(stage.domain) ? lanes : 0));
  });
  return totals;
}

void GroupEmitter::storeTotals(Values totals) {
  size_t i = 0;
  forEachTotal([&](const Stage &stage, const Reduction &reduction) {
    Value total = totals[i++];
    if (isVector(stage.domain))
      total = combineLanes(f.b, reduction.combiner, total);
    linalg::GenericOp op = stage.op;
    if (group.chunks() == 1)
      total =
          combine(f.b, reduction.combiner, value(op.getDpsInits()[0]), total);
    f.store(total, partial(stage), chunkIndex, {});
  });
}

/// Rows of sums in memory start as neutral, or as the start value where no
/// later stage adds it.
void GroupEmitter::clearSums() {
  if (llvm::none_of(group.stages,
                    [&](const Stage &stage) { return isSumsInMemory(stage); }))
    return;
  scopes[1].values.clear();
  scopes[2].values.clear();
  innerRange({}, [&](Values) -> Values {
    for (const Stage &stage : group.stages)
      if (isSumsInMemory(stage)) {
        linalg::GenericOp op = stage.op;
        Value start =
            group.chunks() == 1
                ? value(op.getDpsInits()[0])
                : constant(f.b, f.location, matchReduction(op)->neutral, 0);
        f.store(broadcast(f.b, start, lanes), partial(stage),
                {chunkIndex, inner}, mask);
      }
    return {};
  });
}

} // namespace

StageFunction mp::cpu::emitGroup(const StageGroup &group, Value predicate) {
  return GroupEmitter(group, predicate).emit();
}
