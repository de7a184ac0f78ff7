//===- SetMode.cpp - say whether functions train or evaluate --------------===//
#include "dialect/ops/Augmentation.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/GradientPaths.h"
#include "passes/analysis/LoopBodies.h"

namespace mp {
#define GEN_PASS_DEF_SETMODE
#include "passes/step/Passes.h.inc"
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
      auto known = function->getAttrOfType<StringAttr>(kModeAttr);
      if (known && known.getValue() != mode) {
        function.emitOpError()
            << (mode == "train" ? "evaluates" : "trains")
            << ", and what that replaced does not come back: take the function "
               "as it was";
        return signalPassFailure();
      }
      // What it writes by now is what a later pass keeps.
      if (known)
        continue;
      function->setAttr(kModeAttr, StringAttr::get(&getContext(), mode));
      if (mode == "eval")
        evaluate(function);
      else
        train(function);
    }
  }

private:
  /// Replaces a result by a value. A gradient with respect to the result is not
  /// one with respect to a value that other ops use too, so it gets its own.
  static void replace(ImplicitLocOpBuilder &builder, Value result,
                      Value value) {
    if (isGradientSource(result))
      value = ScaleGradientOp::create(builder, value.getType(), value,
                                      /*exponent=*/0);
    result.replaceAllUsesWith(value);
  }

  /// Removes what only evaluation needs.
  static void train(func::FuncOp function) {
    SmallVector<InTrainingOp> ops;
    function.walk([&](InTrainingOp op) { ops.push_back(op); });
    for (InTrainingOp op : ops) {
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      replace(builder, op.getResult(), op.getTrained());
      op.erase();
    }
  }

  /// Makes an evaluation change no state.
  static void evaluate(func::FuncOp function) {
    SmallVector<EvaluationOpInterface> ops;
    SmallVector<WriteOp> writes;
    function.walk([&](Operation *op) {
      if (auto other = dyn_cast<EvaluationOpInterface>(op);
          other && other.differsInEvaluation())
        ops.push_back(other);
      if (auto write = dyn_cast<WriteOp>(op))
        writes.push_back(write);
    });
    for (WriteOp write : writes)
      write.erase();
    for (EvaluationOpInterface op : ops) {
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      for (auto [result, value] :
           llvm::zip_equal(op->getResults(), op.buildEvaluation(builder)))
        if (value)
          replace(builder, result, value);
      op.erase();
    }
    // What drew has been given the numbers of time steps.
    function.walk([](ScanOp scan) { dropUnusedSlices(scan); });
  }
};
} // namespace
