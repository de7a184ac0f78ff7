//===- Lint.cpp - find numbers that go wrong before they do ---------------===//
//
// The pass changes nothing: it looks at a copy of the module, cast as training
// would cast it.
//
//===----------------------------------------------------------------------===//
#include "passes/inspect/Lint.h"
#include "dialect/ops/Recipe.h"
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_LINT
#include "passes/inspect/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct Lint : mp::impl::LintBase<Lint> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    LintFindings findings;
    findings.rememberRegions(getOperation());
    if (failed(findings.disable(getOperation(), llvm::to_vector(disable))) ||
        failed(checkMagnitude()) || failed(lintAll(findings)))
      return signalPassFailure();
    findings.emit();
  }

private:
  LogicalResult checkMagnitude() {
    if (magnitude > 0)
      return success();
    return getOperation().emitError() << "magnitude is " << magnitude.getValue()
                                      << ", expected a positive number";
  }

  /// Runs the passes that come before backward in training.
  LogicalResult prepare(ModuleOp module) {
    PassManager manager(&getContext(), ModuleOp::getOperationName());
    manager.addPass(createInline());
    manager.addPass(createUnrollScans({/*all=*/true}));
    manager.addPass(createSetMode({"train"}));
    if (batch != 0)
      manager.addPass(createSpecialize({batch}));
    AutocastOptions autocast;
    autocast.dtype = dtype;
    autocast.policy = policy;
    manager.addPass(createAutocast(autocast));
    return manager.run(module);
  }

  /// Training runs one recipe, and casts a function by that alone.
  LogicalResult lintAll(LintFindings &findings) {
    auto recipes = llvm::to_vector(getOperation().getOps<TrainOp>());
    if (recipes.empty())
      return lint(StringAttr(), findings);
    for (TrainOp recipe : recipes) {
      if (recipes.size() > 1)
        findings.setContext(recipe.getLoc(),
                            "as @" + recipe.getEntry().str() + " casts it");
      if (failed(lint(recipe.getEntryAttr().getAttr(), findings)))
        return failure();
    }
    return success();
  }

  /// Checks the module with only one recipe, that of an entry.
  LogicalResult lint(StringAttr entry, LintFindings &findings) {
    OwningOpRef<ModuleOp> module(getOperation().clone());
    for (auto recipe : llvm::to_vector(module->getOps<TrainOp>()))
      if (recipe.getEntryAttr().getAttr() != entry)
        recipe.erase();
    if (failed(prepare(*module)))
      return failure();
    for (auto function : module->getOps<func::FuncOp>())
      if (function.getBody().hasOneBlock())
        lintNumbers(function, findings);
    for (auto recipe : module->getOps<TrainOp>()) {
      auto function =
          module->lookupSymbol<func::FuncOp>(recipe.getFunctionAttr());
      if (function.getBody().hasOneBlock() &&
          failed(lintRecipe(recipe, function, masterWeights, findings)))
        return failure();
    }
    return success();
  }

  void lintNumbers(func::FuncOp function, LintFindings &findings) {
    Block &body = function.getBody().front();
    Ranges certain;
    certain.run(body);
    Ranges assumed(magnitude, certain);
    assumed.run(body);
    lintConstants(function, certain, findings);
    lintSums(function, assumed, magnitude, findings);
    lintExponentials(function, certain, findings);
  }
};
} // namespace
