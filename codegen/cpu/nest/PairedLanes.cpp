//===- PairedLanes.cpp - bf16 in pairs ------------------------------------===//
#include "codegen/cpu/nest/PairedLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

static bool isBF16(Value value) {
  return getElementTypeOrSelf(value.getType()).isBF16();
}

/// Whether an op of a body keeps bf16 and f32 apart but for conversions: all
/// others of a vector have one order of lanes.
static bool keepsOrders(Operation &op) {
  if (isa<linalg::IndexOp>(op))
    return false;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Type other = op.getResult(0).getType().isBF16() ? op.getOperand(0).getType()
                                                    : op.getResult(0).getType();
    bool toOrFrom = isBF16(op.getOperand(0)) || isBF16(op.getResult(0));
    return toOrFrom && other.isF32();
  }
  return isa<arith::ConstantOp, linalg::YieldOp>(op) ||
         (llvm::none_of(op.getOperands(), isBF16) &&
          llvm::none_of(op.getResults(), isBF16));
}

bool mp::cpu::canPairLanes(const StageGroup &group) {
  auto isOfLanes = [&](Value tensor) {
    Space space = group.spaces.lookup(tensor);
    return space == Space::Full || space == Space::Column;
  };
  bool reads = false;
  for (const Stage &stage : group.stages) {
    linalg::GenericOp op = stage.op;
    bool hasRowOfSums =
        stage.terminal && group.role(stage.result) != Role::Global;
    if (hasRowOfSums || !llvm::all_of(*op.getBody(), keepsOrders))
      return false;
    for (OpOperand *read : readsOf(op)) {
      Value tensor = read->get();
      if (group.producer(tensor) || constantOf(tensor) || !isOfLanes(tensor))
        continue;
      if (!isBF16(tensor))
        return false;
      reads = true;
    }
  }
  return reads && llvm::all_of(group.outputs, [&](Value tensor) {
           return isBF16(tensor) || !isOfLanes(tensor);
         });
}
