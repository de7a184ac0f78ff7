//===- SetMode.cpp - say whether functions train or evaluate --------------===//
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_SETMODE
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct SetMode : mp::impl::SetModeBase<SetMode> {
  using Base::Base;

  void runOnOperation() override {
    if (mode != "train" && mode != "eval") {
      getOperation().emitError()
          << "mode is \"" << mode << "\", expected train or eval";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      function->setAttr(kModeAttr, StringAttr::get(&getContext(), mode));
      if (mode == "eval")
        function.walk(evaluateRandom);
    }
  }

private:
  /// Dropout leaves its operand alone.
  static void evaluateRandom(RandomOpInterface op) {
    if (Value value = op.getEvaluated()) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
};
} // namespace
