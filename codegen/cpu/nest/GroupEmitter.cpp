//===- GroupEmitter.cpp - the loops of a group ----------------------------===//
#include "codegen/cpu/nest/GroupEmitter.h"
#include "codegen/cpu/nest/GroupNest.h"
#include "codegen/cpu/nest/Largest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

StageFunction GroupNest::emit() {
  // A kept row is in registers already.
  if (!lanesAreOuter() && !keepsRow())
    for (const Stage &stage : group.stages) {
      if (std::optional<Pick> pick = matchPick(group, stage))
        picks.try_emplace(stage.op, *pick);
      if (Value from = matchLargest(group, stage))
        largest.try_emplace(stage.op, from);
    }
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

/// Each chunk of outer indices makes its own partial results, whatever the
/// number of chunks in a call.
GroupNest::Values GroupNest::chunkLoop() {
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

GroupNest::Values GroupNest::outerRange(Value lower, Value upper,
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
  // A step adds as many terms as the inner loop has steps.
  SmallVector<Reduction> reductions = totalsOfChunk();
  int64_t step = lanesAreOuter() ? lanes : 1;
  int64_t steps = group.hasTerminals() ? group.chunk() / step : 0;
  int64_t stepsInPart =
      std::max<int64_t>(KernelFunction::serialTerms / innerSteps(), 1);
  if (!lanesAreOuter())
    return f.reductionLoop(lower, upper, step, steps, reductions, totals, body,
                           opened, stepsInPart);

  Value size = arith::SubIOp::create(f.b, f.location, upper, lower);
  Value rest = arith::RemUIOp::create(f.b, f.location, size, f.index(lanes));
  Value last = arith::SubIOp::create(f.b, f.location, upper, rest);
  totals = f.reductionLoop(lower, last, step, steps, reductions, totals, body,
                           opened, stepsInPart);
  // The rest is masked: a loop of one step or none.
  auto masked = [&](Value index, ValueRange values) {
    mask = lanesBelow(f.b, f.location, rest, lanes);
    Values results = body(index, values);
    mask = nullptr;
    return results;
  };
  return f.loop(last, upper, lanes, totals, masked, opened);
}

/// Emits everything at one outer index: its passes, then its stores.
GroupNest::Values GroupNest::outerBody(Values totals) {
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
    if (isStream(space))
      writtenStreams.insert(output);
    f.store(broadcast(f.b, result, isVector(space) ? lanes : 0),
            memory(output, space), indices(space),
            isVector(space) ? mask : Value());
  }
  if (group.schedule == LoopSchedule::Flat)
    prefetchStreams(/*reads=*/true, /*writes=*/true);
  return totals;
}

/// One pass over the inner index. Accumulators are the totals, then those of
/// the reductions that end here.
GroupNest::Values GroupNest::pass(unsigned level, Values totals) {
  // Before the pass stores anything, perhaps in place of an operand.
  for (const Stage &stage : group.stages)
    if (auto pick = picks.find(stage.op);
        pick != picks.end() && group.isWorkOf(stage, level))
      scopes[1].values[stage.op->getResult(0)] = picked(stage, pick->second);
  bool hasWork = llvm::any_of(
      group.stages, [&](const Stage &stage) { return isLooped(stage, level); });
  if (!hasWork)
    return totals;
  Values accumulators = totals;
  SmallVector<Reduction> reductions = totalsOfChunk();
  for (const Stage &stage : group.stages)
    if (stage.reduction && !stage.terminal && isLooped(stage, level)) {
      reductions.push_back(reductionOf(stage));
      accumulators.push_back(
          constant(f.b, f.location, reductions.back().neutral, lanes));
    }
  accumulators =
      innerRange(reductions, std::move(accumulators), [&](Values values) {
        return passBody(level, std::move(values));
      });
  finishReductions(level,
                   Values(ArrayRef(accumulators).drop_front(totals.size())));
  accumulators.truncate(totals.size());
  return accumulators;
}

/// Returns the steps of the loop over the inner index; 1 if there is none.
int64_t GroupNest::innerSteps() const {
  int64_t size = group.innerSize();
  return std::max<int64_t>(lanesAreOuter() ? size : size / lanes, 1);
}

GroupNest::Values
GroupNest::innerRange(ArrayRef<Reduction> reductions, Values start,
                      llvm::function_ref<Values(Values)> body) {
  auto opened = [&](Operation *op) { scopes[1].open = op; };
  auto step = [&](Value index, ValueRange values) {
    scopes[2].values.clear();
    inner = index;
    return body(llvm::to_vector(values));
  };
  Values results = std::move(start);
  if (lanesAreOuter()) {
    results = f.reductionLoop(f.index(0), f.index(group.rows), 1, innerSteps(),
                              reductions, results, step, opened);
  } else {
    int64_t rest = keepsRow() ? group.columns : group.columns % lanes;
    int64_t last = group.columns - rest;
    if (last)
      results = f.reductionLoop(f.index(0), f.index(last), lanes, innerSteps(),
                                reductions, results, step, opened);
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

/// Emits one step of a pass. Nothing is stored before all is computed, so that
/// a result may take the place of an operand.
GroupNest::Values GroupNest::passBody(unsigned level, Values accumulators) {
  SmallVector<std::tuple<Value, Value, Values, Value>> stores;
  auto store = [&](Value value, Value memref, Values at, Value under) {
    stores.emplace_back(value, memref, std::move(at), under);
  };
  size_t total = 0, own = 0;
  forEachTotal([&](const Stage &, const Reduction &) { ++own; });
  for (const Stage &stage : group.stages) {
    bool isTotal = stage.terminal && !isSumsInMemory(stage);
    size_t at = isTotal ? total++ : 0;
    if (!isLooped(stage, level))
      continue;
    if (!stage.reduction) {
      for (Value result : stage.op->getResults()) {
        Value computed = broadcast(f.b, value(result), lanes);
        if (group.stores(result)) {
          if (isStream(stage.domain))
            writtenStreams.insert(result);
          store(computed, memory(result, stage.domain), indices(stage.domain),
                mask);
        }
        if (stage.buffered && !keepsRow())
          store(computed, buffers.lookup(result), {inner}, {});
      }
      continue;
    }
    Reduction reduction = reductionOf(stage);
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
  prefetchStreams(level == group.busiestLevel(), level + 1 == group.levels());
  return accumulators;
}

void GroupNest::finishReductions(unsigned level, Values accumulators) {
  size_t i = 0;
  for (const Stage &stage : group.stages) {
    if (!stage.reduction || stage.terminal || !isLooped(stage, level))
      continue;
    Operation *combiner = matchReduction(stage.op)->combiner;
    Value result = accumulators[i++];
    if (!isVector(stage.result))
      result = combineLanes(f.b, combiner, result);
    if (Value from = largest.lookup(stage.op))
      result = floatOfKey(f.b, result, getElementTypeOrSelf(from.getType()));
    linalg::GenericOp op = stage.op;
    Value start = broadcast(f.b, value(op.getDpsInits()[0]),
                            isVector(stage.result) ? lanes : 0);
    scopes[1].values[op->getResult(0)] = combine(f.b, combiner, start, result);
  }
}

StageFunction mp::cpu::emitGroup(const StageGroup &group, Value predicate) {
  return GroupNest(group, predicate).emit();
}
