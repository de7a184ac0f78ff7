//===- ExpandGradients.cpp - replace mp.gradient by the backward ops ------===//
#include "dialect/ops/Gradient.h"
#include "passes/Passes.h"
#include "passes/autodiff/Differentiate.h"

namespace mp {
#define GEN_PASS_DEF_EXPANDGRADIENTS
#include "passes/autodiff/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct ExpandGradients : mp::impl::ExpandGradientsBase<ExpandGradients> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (function.getOps<GradientOp>().empty())
      return dropScaleGradients(function);
    GradientOrigins origins;
    if (failed(checkDifferentiable(function)) ||
        failed(expandGradients(function, origins)))
      return signalPassFailure();
    dropScaleGradients(function);
    eraseDead(function);
  }
};
} // namespace
