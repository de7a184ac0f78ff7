//===- StepFlow.cpp - data flow through a step ----------------------------===//
#include "passes/analysis/StepFlow.h"
#include "dialect/ops/Collective.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/State.h"
#include "passes/analysis/Recipe.h"

using namespace mlir;
using namespace mp;

StepFlow::StepFlow(func::FuncOp step) {
  llvm::append_range(all, step.getOps<UnscaleAndCheckOp>());
  func::FuncOp gathering = lookupAccumulate(step);
  if (!gathering)
    return;
  llvm::append_range(all, gathering.getOps<UnscaleAndCheckOp>());
  for (auto write : gathering.getOps<WriteOp>())
    left[write.getVariableAttr().getAttr()] = write.getValue();
}

Value StepFlow::gathered(ReadOp read) const {
  return left.lookup(read.getVariableAttr().getAttr());
}

/// A random op's key decides which numbers it draws, not how large they are.
static bool isKey(OpOperand &operand) {
  auto random = dyn_cast<RandomOpInterface>(operand.getOwner());
  return random && llvm::any_of(random.getKeyMutable(), [&](OpOperand &key) {
           return &key == &operand;
         });
}

/// Returns what this rank gives for a value that ranks combine, or null.
static Value exchanged(Value value) {
  auto exchange = value.getDefiningOp<AllReduceOp>();
  return exchange
             ? exchange.getInputs()[cast<OpResult>(value).getResultNumber()]
             : Value();
}

/// Returns the flag that a rank gives unless it is idle, and has no rows that
/// count; null for other values.
static Value givenByRank(Value value) {
  auto both = value.getDefiningOp<AndOp>();
  auto isBusy = both ? both.getRhs().getDefiningOp<NotOp>() : NotOp();
  auto idle = isBusy ? isBusy.getInput().getDefiningOp<ReadOp>() : ReadOp();
  return idle && idle.getVariable().ends_with(kIdleVariable) ? both.getLhs()
                                                             : Value();
}

void StepFlow::walk(Value root, Seen &seen,
                    function_ref<bool(Operation *)> visit) const {
  SmallVector<Value> work{root};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (!visit(op))
      return;
    if (isa<UnscaleAndCheckOp>(op))
      continue;
    if (auto read = dyn_cast<ReadOp>(op))
      if (Value value = gathered(read))
        work.push_back(value);
    if (Value own = exchanged(value)) {
      work.push_back(own);
      continue;
    }
    for (OpOperand &operand : op->getOpOperands())
      if (!isKey(operand))
        work.push_back(operand.get());
  }
}

template <typename OpT>
SetVector<OpT> StepFlow::opsBehind(Value value, Seen &seen) const {
  SetVector<OpT> ops;
  walk(value, seen, [&](Operation *op) {
    if (auto found = dyn_cast<OpT>(op))
      ops.insert(found);
    return true;
  });
  return ops;
}

SetVector<UnscaleAndCheckOp> StepFlow::checksOf(Value value, Seen &seen) const {
  return opsBehind<UnscaleAndCheckOp>(value, seen);
}

SetVector<ReadOp> StepFlow::readsOf(Value value, Seen &seen) const {
  return opsBehind<ReadOp>(value, seen);
}

bool StepFlow::hasChecks(Value value) const {
  bool found = false;
  Seen seen;
  walk(value, seen, [&](Operation *op) {
    found = isa<UnscaleAndCheckOp>(op);
    return !found;
  });
  return found;
}

const SetVector<Value> &StepFlow::partsOf(Value flag) {
  auto [known, isNew] = parts.try_emplace(flag);
  SetVector<Value> &found = known->second;
  DenseSet<Value> seen;
  SmallVector<Value> work;
  if (isNew)
    work.push_back(flag);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto either = value.getDefiningOp<OrOp>()) {
      llvm::append_range(work, either->getOperands());
      continue;
    }
    Value own = exchanged(value);
    if (!own)
      own = givenByRank(value);
    if (own) {
      work.push_back(own);
      continue;
    }
    found.insert(value);
    if (auto read = value.getDefiningOp<ReadOp>())
      if (Value before = gathered(read))
        work.push_back(before);
  }
  return found;
}
