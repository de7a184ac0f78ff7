//===- StepPhases.cpp - the parts of a training step ----------------------===//
#include "passes/inspect/StepPhases.h"
#include "dialect/ops/State.h"
#include "passes/analysis/BackwardOps.h"

using namespace mlir;
using namespace mp;

llvm::DenseSet<Operation *> mp::findUpdate(Block &body) {
  llvm::DenseSet<Operation *> update;
  auto dependsOnGradients = [&](Operation &op) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return maker && (isBackward(maker->getLoc()) || update.contains(maker));
    });
  };
  auto servesUpdate = [&](Operation &op) {
    return !op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
      return update.contains(user) && !user->hasTrait<OpTrait::IsTerminator>();
    });
  };
  for (Operation &op : body)
    if (!isBackward(op.getLoc()) && dependsOnGradients(op))
      update.insert(&op);
  for (Operation &op : llvm::reverse(body))
    if (!isBackward(op.getLoc()) && (isa<WriteOp>(op) || servesUpdate(op)))
      update.insert(&op);
  return update;
}
