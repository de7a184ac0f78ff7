//===- RecomputePlan.cpp - values that backward computes again ------------===//
#include "passes/autodiff/RecomputePlan.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Loop.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace mp;

/// The largest number of blocks that is considered.
static constexpr unsigned kMostBlocks = 32;

//===----------------------------------------------------------------------===//
// Ops and values
//===----------------------------------------------------------------------===//

static bool isContraction(Operation *op) {
  auto anchor = dyn_cast<AnchorOpInterface>(op);
  return anchor && anchor.takesEpilogue();
}

/// Returns the value that a reshape is another name of.
static Value rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

static double elementsOf(Value value) {
  return tensorType(value).getNumElements();
}

/// Estimates the FLOPs of an op: exact for a product of matrices, an order of
/// magnitude for others.
static double flopsOf(Operation *op) {
  if (isa<ReshapeOp>(op))
    return 0;
  if (auto loop = dyn_cast<LoopOp>(op)) {
    double flops = 0;
    for (Operation &inner :
         loop.lookUpBody().getBody().front().without_terminator())
      flops += flopsOf(&inner);
    return flops * loop.getRounds();
  }
  double result = elementsOf(op->getResult(0));
  if (isContraction(op))
    return 2 * std::sqrt(result * elementsOf(op->getOperand(0)) *
                         elementsOf(op->getOperand(1)));
  double most = result;
  for (Value operand : op->getOperands())
    most = std::max(most, elementsOf(operand));
  auto scalar = dyn_cast<ScalarOpInterface>(op);
  bool isMany =
      isa<DecomposableOpInterface>(op) || (scalar && scalar.isExpensive());
  return isMany ? 16 * most : most;
}

Location mp::recomputedLocation(Operation *op) {
  auto *context = op->getContext();
  return FusedLoc::get({op->getLoc()},
                       StringAttr::get(context, "recomputed for backward of"),
                       context);
}

/// Variables and constants lie elsewhere, and so do casts of variables.
int64_t RecomputePlan::bytesOf(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ReadOp, ConstantOp, ReshapeOp>(op) ||
      (isa<CastOp>(op) && op->getOperand(0).getDefiningOp<ReadOp>()))
    return 0;
  auto type = tensorType(value);
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

RecomputePlan::RecomputePlan(func::FuncOp function) : function(function) {
  for (Operation &op : function.getBody().front().without_terminator()) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  findBackwards();
  findRepeated();
  findRepeatable();
  findKeptBytes();
}

unsigned RecomputePlan::lastUserOf(Value value) const {
  unsigned last = positions.lookup(value.getDefiningOp());
  for (Operation *user : value.getUsers())
    last = std::max(last, positions.lookup(user));
  return last;
}

void RecomputePlan::findBackwards() {
  forwardEnd = ops.size();
  for (unsigned i = 0; i < ops.size(); ++i) {
    if (!isa<SeedOp>(ops[i]))
      continue;
    if (backwards.empty())
      forwardEnd = i;
    else
      backwards.back().end = i;
    backwards.push_back({i, static_cast<unsigned>(ops.size()), {}});
  }
  for (Backward &backward : backwards)
    for (unsigned i = backward.begin; i < backward.end; ++i) {
      bool isFromSeed = isa<SeedOp>(ops[i]);
      // What waits is the value itself.
      auto barrier = dyn_cast<RecomputeBarrierOp>(ops[i]);
      unsigned until = barrier ? lastUserOf(barrier) : i;
      for (Value operand : ops[i]->getOperands()) {
        isFromSeed |= !barrier && fromSeed.contains(operand);
        auto producer = positions.find(operand.getDefiningOp());
        if (producer == positions.end() || producer->second >= forwardEnd)
          continue;
        unsigned &last =
            backward.uses.try_emplace(operand, i, i).first->second.second;
        last = std::max(last, until);
        usedInBackward.insert(rootOf(operand));
      }
      if (isFromSeed)
        fromSeed.insert(ops[i]->result_begin(), ops[i]->result_end());
    }
}

/// Finds what backward computes again already, and how long it is kept.
void RecomputePlan::findRepeated() {
  repeatedBytes.resize(ops.size() + 1);
  DenseSet<Value> again;
  for (unsigned i = forwardEnd; i < ops.size(); ++i) {
    bool isBarrier = isa<RecomputeBarrierOp>(ops[i]);
    auto isIn = [](const DenseSet<Value> &set) {
      return [&set](Value value) { return set.contains(value); };
    };
    if (!isBarrier && (llvm::none_of(ops[i]->getOperands(), isIn(again)) ||
                       llvm::any_of(ops[i]->getOperands(), isIn(fromSeed))))
      continue;
    for (Value result : ops[i]->getResults()) {
      again.insert(result);
      if (isBarrier)
        continue;
      repeatedBytes[i] += bytesOf(result);
      repeatedBytes[lastUserOf(result) + 1] -= bytesOf(result);
    }
  }
}

/// Finds the ops that depend on an input, and their uses; other values are
/// (nearly) the same in every step.
void RecomputePlan::findRepeatable() {
  auto arguments = function.getArguments();
  DenseSet<Value> varies(arguments.begin(), arguments.end());
  repeatable.resize(ops.size());
  SmallVector<int64_t> change(forwardEnd + 1);
  for (unsigned i = 0; i < forwardEnd; ++i) {
    if (llvm::none_of(ops[i]->getOperands(),
                      [&](Value operand) { return varies.contains(operand); }))
      continue;
    varies.insert(ops[i]->result_begin(), ops[i]->result_end());
    if (ops[i]->getNumResults() && isMemoryEffectFree(ops[i]))
      repeatable.set(i);
    for (Value operand : ops[i]->getOperands())
      lastInForward[rootOf(operand)] = i;
  }
  for (auto [value, last] : lastInForward)
    if (Operation *op = value.getDefiningOp()) {
      change[positions.lookup(op)] += bytesOf(value);
      change[last] -= bytesOf(value);
    }
  std::partial_sum(change.begin(), change.end(),
                   std::back_inserter(crossingBytes));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// A reshape is computed again with the value that it names.
bool RecomputePlan::isRepeated(const Choice &choice, unsigned position) const {
  Operation *op = rootOf(ops[position]->getResult(0)).getDefiningOp();
  return op && choice.test(positions.lookup(op));
}

/// Users come first: when an op is visited, all ops that need it are known.
RecomputePlan::Needs RecomputePlan::needsOf(const Backward &backward,
                                            const Choice &choice) const {
  Needs needs;
  needs.first.assign(forwardEnd, kNever);
  for (auto &[value, range] : backward.uses) {
    needs.last[value] = range.second;
    unsigned position = positions.lookup(value.getDefiningOp());
    if (isRepeated(choice, position))
      needs.first[position] = std::min(needs.first[position], range.first);
  }
  for (unsigned i = forwardEnd; i-- > 0;) {
    Operation *op = ops[i];
    bool isName = isa<ReshapeOp>(op) && needs.last.contains(op->getResult(0));
    unsigned first = needs.first[i];
    if (first == kNever && !isName)
      continue;
    for (Value operand : op->getOperands()) {
      auto producer = positions.find(operand.getDefiningOp());
      if (producer == positions.end())
        continue;
      unsigned until =
          std::max(first == kNever ? 0 : first,
                   isName ? needs.last.lookup(op->getResult(0)) : 0);
      unsigned &last = needs.last[operand];
      last = std::max(last, until);
      if (first != kNever && isRepeated(choice, producer->second))
        needs.first[producer->second] =
            std::min(needs.first[producer->second], first);
    }
  }
  return needs;
}

RecomputePlan::Cost RecomputePlan::costOf(const Choice &choice) const {
  Cost cost;
  SmallVector<int64_t> change(repeatedBytes);
  DenseMap<Value, unsigned> keptUntil;
  for (const Backward &backward : backwards) {
    Needs needs = needsOf(backward, choice);
    for (auto [value, last] : needs.last) {
      unsigned position = positions.lookup(value.getDefiningOp());
      if (needs.first[position] == kNever) {
        unsigned &until = keptUntil[value];
        until = std::max(until, last);
        continue;
      }
      change[needs.first[position]] += bytesOf(value);
      change[last + 1] -= bytesOf(value);
    }
    for (unsigned i = 0; i < forwardEnd; ++i)
      if (needs.first[i] != kNever)
        cost.flops += flopsOf(ops[i]);
  }
  for (auto [value, until] : keptUntil) {
    change[forwardEnd] += bytesOf(value);
    change[until + 1] -= bytesOf(value);
  }
  int64_t alive = 0;
  for (int64_t difference : change)
    cost.bytes = std::max(cost.bytes, alive += difference);
  return cost;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

RecomputePlan::Choice RecomputePlan::between(ArrayRef<Value> kept) const {
  Choice choice(ops.size());
  SmallVector<Value> work;
  auto addOperands = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(work, op->getOperands());
  };
  for (Value value : kept)
    addOperands(rootOf(value));
  while (!work.empty()) {
    Value value = work.pop_back_val();
    auto position = positions.find(value.getDefiningOp());
    if (position == positions.end() || choice.test(position->second))
      continue;
    choice.set(position->second);
    addOperands(value);
  }
  choice &= repeatable;
  for (Value value : kept)
    if (Operation *op = rootOf(value).getDefiningOp())
      choice.reset(positions.lookup(op));
  return choice;
}

/// Returns the bytes of those results of an op that backward uses.
int64_t RecomputePlan::usedBytes(unsigned position) const {
  int64_t bytes = 0;
  for (Value result : ops[position]->getResults())
    if (usedInBackward.contains(result))
      bytes += bytesOf(result);
  return bytes;
}

/// Finds for each op the bytes that have to be kept for it to be computed
/// again, besides what backward uses: each operand, or what is kept for that if
/// it has no main loop and takes fewer bytes.
void RecomputePlan::findKeptBytes() {
  keptBytes.assign(forwardEnd, 0);
  for (unsigned i = 0; i < forwardEnd; ++i)
    for (Value operand : ops[i]->getOperands())
      if (Value root = rootOf(operand); !usedInBackward.contains(root))
        keptBytes[i] += isInChain(root)
                            ? keptBytes[positions.lookup(root.getDefiningOp())]
                            : bytesOf(root);
}

bool RecomputePlan::isCheap(unsigned position) const {
  return repeatable.test(position) && !isContraction(ops[position]) &&
         !isa<ReshapeOp>(ops[position]);
}

/// Whether an operand is computed again with the op that uses it.
bool RecomputePlan::isInChain(Value root) const {
  Operation *op = root.getDefiningOp();
  if (!op || usedInBackward.contains(root))
    return false;
  unsigned position = positions.lookup(op);
  return isCheap(position) && keptBytes[position] < bytesOf(root);
}

/// Returns an op and the operands that are computed again with it.
SmallVector<unsigned> RecomputePlan::chainOf(unsigned position) const {
  llvm::SetVector<unsigned> chain;
  chain.insert(position);
  for (unsigned i = 0; i < chain.size(); ++i)
    for (Value operand : ops[chain[i]]->getOperands())
      if (Value root = rootOf(operand); isInChain(root))
        chain.insert(positions.lookup(root.getDefiningOp()));
  return chain.takeVector();
}

/// Returns ops without a main loop, those first that save the most bytes for a
/// FLOP, until the budget is kept.
RecomputePlan::Choice RecomputePlan::cheapOnes(int64_t budget) const {
  SmallVector<std::pair<double, unsigned>> candidates;
  for (unsigned i : repeatable.set_bits()) {
    int64_t saved = usedBytes(i) - keptBytes[i];
    if (!isCheap(i) || saved <= 0)
      continue;
    double flops = 0;
    for (unsigned position : chainOf(i))
      flops += flopsOf(ops[position]);
    candidates.emplace_back(double(saved) / flops, i);
  }
  llvm::sort(candidates, [](const auto &lhs, const auto &rhs) {
    return lhs.first != rhs.first ? lhs.first > rhs.first
                                  : lhs.second < rhs.second;
  });
  Choice choice(ops.size());
  int64_t bytes = costOf(choice).bytes;
  for (auto [worth, position] : candidates) {
    if (bytes <= budget)
      break;
    Choice with = choice;
    for (unsigned i : chainOf(position))
      with.set(i);
    if (int64_t now = costOf(with).bytes; now <= bytes) {
      choice = with;
      bytes = now;
    }
  }
  return choice;
}

/// Whether forward uses the value on the other side of an op too.
bool RecomputePlan::crosses(Value value, unsigned cut) const {
  Operation *op = value.getDefiningOp();
  return op && positions.lookup(op) <= cut && lastInForward.lookup(value) > cut;
}

/// Returns the ends of blocks that keep about the same number of bytes for
/// backward, and pass little from one to the next.
SmallVector<unsigned> RecomputePlan::cutInto(unsigned blocks) const {
  int64_t total = 0;
  for (unsigned i = 0; i < forwardEnd; ++i)
    total += usedBytes(i);
  SmallVector<unsigned> cuts;
  for (unsigned begin = 0; begin < forwardEnd;) {
    int64_t bytes = 0;
    std::optional<unsigned> best;
    for (unsigned i = begin; i < forwardEnd; ++i) {
      bytes += usedBytes(i);
      if (2 * bytes * blocks >= total &&
          (!best || crossingBytes[i] <= crossingBytes[*best]))
        best = i;
      if (bytes * blocks >= total)
        break;
    }
    if (!best || bytes * blocks < total)
      break;
    cuts.push_back(*best);
    begin = *best + 1;
  }
  return cuts;
}

/// Returns all ops before the last cut except those whose values cross a cut;
/// after it the cheap ones.
RecomputePlan::Choice RecomputePlan::upTo(ArrayRef<unsigned> cuts,
                                          const Choice &cheap) const {
  Choice choice = repeatable;
  choice.reset(cuts.back() + 1, choice.size());
  choice |= cheap;
  for (auto [value, last] : lastInForward)
    if (llvm::any_of(cuts, [&](unsigned cut) { return crosses(value, cut); }))
      choice.reset(positions.lookup(value.getDefiningOp()));
  return choice;
}

RecomputePlan::Choice RecomputePlan::within(int64_t budget) const {
  Choice best(ops.size());
  Cost least = costOf(best);
  auto consider = [&](const Choice &choice) {
    Cost cost = costOf(choice);
    bool fits = cost.bytes <= budget, fitted = least.bytes <= budget;
    if (fits == fitted
            ? (fits ? cost.flops < least.flops : cost.bytes < least.bytes)
            : fits) {
      best = choice;
      least = cost;
    }
  };
  if (least.bytes <= budget)
    return best;
  Choice none(ops.size()), cheap = cheapOnes(budget);
  consider(cheap);
  if (least.bytes <= budget)
    return best;
  for (unsigned blocks = 2; blocks <= kMostBlocks; ++blocks) {
    SmallVector<unsigned> cuts = cutInto(blocks);
    for (unsigned count = 1; count <= cuts.size(); ++count) {
      consider(upTo(ArrayRef(cuts).take_front(count), none));
      consider(upTo(ArrayRef(cuts).take_front(count), cheap));
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Returns a value of backward that is ready when backward reaches an op: a
/// gradient that the op takes, or one made before.
Value RecomputePlan::sinceAt(unsigned position,
                             const Backward &backward) const {
  for (Value operand : ops[position]->getOperands())
    if (fromSeed.contains(operand))
      return operand;
  while (position-- > backward.begin)
    for (Value result : ops[position]->getResults())
      if (fromSeed.contains(result))
        return result;
  llvm_unreachable("backward begins with a seed");
}

void RecomputePlan::applyTo(const Backward &backward, const Choice &choice) {
  Needs needs = needsOf(backward, choice);
  IRMapping again;
  for (unsigned i = 0; i < forwardEnd; ++i) {
    if (needs.first[i] == kNever)
      continue;
    OpBuilder builder(ops[needs.first[i]]);
    Value since = sinceAt(needs.first[i], backward);
    Location location = recomputedLocation(ops[i]);
    IRMapping operands;
    for (Value operand : ops[i]->getOperands()) {
      if (operands.contains(operand) || operand.getDefiningOp<ConstantOp>())
        continue;
      Value known = again.lookupOrNull(operand);
      operands.map(operand, known ? known
                                  : Value(RecomputeBarrierOp::create(
                                        builder, location, operand, since)));
    }
    Operation *clone = builder.clone(*ops[i], operands);
    clone->setLoc(location);
    again.map(ops[i]->getResults(), clone->getResults());
  }
  for (auto [value, range] : backward.uses)
    if (Value known = again.lookupOrNull(value))
      value.replaceUsesWithIf(known, [&](OpOperand &use) {
        auto user = positions.find(use.getOwner());
        return user != positions.end() && user->second >= backward.begin &&
               user->second < backward.end;
      });
}

void RecomputePlan::apply(const Choice &choice) {
  for (const Backward &backward : backwards)
    applyTo(backward, choice);
}
