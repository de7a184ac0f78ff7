//===- PredicateStep.cpp - a skipped step writes nothing ------------------===//
#include "dialect/ops/Logic.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_PREDICATESTEP
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct PredicateStep : mp::impl::PredicateStepBase<PredicateStep> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (step.isExternal())
      return;
    if (!step.getBody().hasOneBlock()) {
      step.emitOpError() << "has control flow, which no step has";
      return signalPassFailure();
    }
    OpOperand *skipped = namedResult(step, kSkippedResult);
    if (!skipped)
      return;
    auto flag = RankedTensorType::get({}, IntegerType::get(&getContext(), 1));
    if (Type type = skipped->get().getType(); type != flag) {
      step.emitOpError() << "result \"" << kSkippedResult << "\" is " << type
                         << ", expected " << flag;
      return signalPassFailure();
    }
    // The flag is final only at the end: writes move after it.
    Operation *terminator = step.getBody().front().getTerminator();
    Value applied;
    VariableTable variables(step->getParentOfType<ModuleOp>());
    for (auto write : llvm::to_vector(step.getOps<WriteOp>())) {
      if (write.getPredicate() || variables.changesWhenSkipped(write))
        continue;
      if (!applied) {
        OpBuilder builder(terminator);
        applied =
            NotOp::create(builder, skipped->get().getLoc(), skipped->get());
      }
      write->moveBefore(terminator);
      write.getPredicateMutable().assign(applied);
    }
  }
};
} // namespace
