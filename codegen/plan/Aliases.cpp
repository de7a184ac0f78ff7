//===- Aliases.cpp - values that lie in the same memory -------------------===//
#include "codegen/plan/Aliases.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

bool Aliases::isView(Operation *op) {
  return isa<ReshapeOp, PartOp, AssembleOp>(op);
}

Aliases::Aliases(Block &block) {
  for (Operation &op : block)
    if (isView(&op))
      for (Value operand : op.getOperands())
        classes.unionSets(operand.getAsOpaquePointer(),
                          op.getResult(0).getAsOpaquePointer());
  for (Operation &op : block) // the last one stays
    if (!isView(&op))
      for (Value operand : op.getOperands())
        last[classes.getOrInsertLeaderValue(operand.getAsOpaquePointer())] =
            &op;
}

bool Aliases::areLastUsedBy(Operation *op, Value value) const {
  auto leader = classes.findLeader(value.getAsOpaquePointer());
  Operation *user =
      leader == classes.member_end() ? nullptr : last.lookup(*leader);
  return !user || !op->isBeforeInBlock(user);
}

void Aliases::forEachUse(Value value,
                         llvm::function_ref<void(OpOperand &)> visit) const {
  auto member = classes.findLeader(value.getAsOpaquePointer());
  for (; member != classes.member_end(); ++member)
    for (OpOperand &use : Value::getFromOpaquePointer(*member).getUses())
      if (!isView(use.getOwner()))
        visit(use);
}
