//===- Anchor.cpp - an anchor, and the stages after it --------------------===//
#include "codegen/stages/Anchor.h"
#include "dialect/ops/Kernel.h"

using namespace mlir;
using namespace mp;

Operation *mp::anchorOf(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<AnchorOpInterface>(op))
      return &op;
  return nullptr;
}

/// Returns the stage that alone reads `value`, element by element, and reads
/// nothing else; null if there is none.
static linalg::GenericOp onlyStageOf(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  auto stage = dyn_cast<linalg::GenericOp>(*value.user_begin());
  if (!stage || stage.getNumDpsInputs() != 1 || stage.getNumDpsInits() != 1 ||
      stage.getDpsInputs()[0] != value)
    return nullptr;
  bool isElementwise =
      stage.getNumParallelLoops() == stage.getNumLoops() &&
      llvm::all_of(stage.getIndexingMapsArray(),
                   [](AffineMap map) { return map.isIdentity(); }) &&
      stage.getRegionOutputArgs()[0].use_empty();
  return isElementwise ? stage : nullptr;
}

AnchorStages::AnchorStages(Operation *anchor) : anchor(anchor) {
  for (Operation *op = anchor->getNextNode(); op; op = op->getNextNode())
    if (auto stage = dyn_cast<linalg::GenericOp>(op))
      all.push_back(stage);
  Value value = anchor->getResult(0);
  while (linalg::GenericOp stage = onlyStageOf(value)) {
    chain.push_back(stage);
    value = stage->getResult(0);
  }
}

bool mp::isRelu(linalg::GenericOp stage) {
  if (elementType(stage.getDpsInputs()[0]) != elementType(stage.getResult(0)))
    return false;
  unsigned maxima = 0;
  for (Operation &op : *stage.getBody()) {
    if (auto maximum = dyn_cast<arith::MaximumFOp>(op)) {
      APFloat bound(0.0);
      auto constant = maximum.getRhs().getDefiningOp<arith::ConstantOp>();
      auto value =
          constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
      if (!value || !value.getValue().isPosZero())
        return false;
      ++maxima;
    } else if (!isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp,
                    linalg::YieldOp>(op)) {
      return false;
    }
  }
  return maxima == 1;
}
