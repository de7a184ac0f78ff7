//===- RankFlow.cpp - values that differ between ranks --------------------===//
#include "passes/analysis/RankFlow.h"
#include "dialect/ops/Collective.h"
#include "passes/analysis/VariableTable.h"

using namespace mlir;
using namespace mp;

RankFlow::RankFlow(func::FuncOp step) {
  VariableTable variables(step->getParentOfType<ModuleOp>());
  Block &block = step.getBody().front();
  for (Value argument : block.getArguments())
    origins[argument] = argument;
  auto begins = [&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      VariableOp variable = variables.lookup(read.getVariable());
      return variable &&
             (variable.getKind() == StateKind::window || variable.getPartOf());
    }
    return isa<RankOp>(op);
  };
  for (Operation &op : block) {
    if (isa<AllReduceOp, AllGatherOp, BroadcastFromOp>(op))
      continue;
    Value origin;
    for (Value operand : op.getOperands())
      if (Value found = origins.lookup(operand); found && !origin)
        origin = found;
    for (Value result : op.getResults())
      if (origin)
        origins[result] = origin;
      else if (begins(&op) || isa<ReduceScatterOp>(op))
        origins[result] = result;
  }
}
