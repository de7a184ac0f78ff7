//===- ReturnNumbers.cpp - a step without results that have a dimension ---===//
#include "dialect/ops/Recipe.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"

namespace mp {
#define GEN_PASS_DEF_RETURNNUMBERS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

/// Returns the results that have a dimension and that nobody asked for: what
/// somebody asked for is named by its kind, as "grad:fc1.weight" is.
static llvm::BitVector tensorsOf(func::FuncOp function) {
  llvm::BitVector found(function.getNumResults());
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr);
    auto tensor = dyn_cast<RankedTensorType>(type);
    found[i] =
        tensor && tensor.getRank() && !(name && name.getValue().contains(':'));
  }
  return found;
}

namespace {
struct ReturnNumbers : mp::impl::ReturnNumbersBase<ReturnNumbers> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (isLoopBody(function))
        continue;
      llvm::BitVector dropped = tensorsOf(function);
      function.getBody().front().getTerminator()->eraseOperands(dropped);
      if (failed(function.eraseResults(dropped)))
        return signalPassFailure();
    }
  }
};
} // namespace
