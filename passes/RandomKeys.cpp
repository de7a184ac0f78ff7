//===- RandomKeys.cpp - where random ops take their key from --------------===//
#include "passes/Passes.h"
#include "passes/Recipe.h"

namespace mp {
#define GEN_PASS_DEF_RANDOMKEYS
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
constexpr llvm::StringLiteral kSeedVariable = "random.seed";

struct RandomKeys : mp::impl::RandomKeysBase<RandomKeys> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(giveKeys(function)))
        return signalPassFailure();
  }

private:
  LogicalResult giveKeys(func::FuncOp function) {
    SmallVector<RandomOpInterface> ops;
    function.walk([&](RandomOpInterface op) {
      if (op.getKeyMutable().empty())
        ops.push_back(op);
    });
    if (ops.empty())
      return success();
    auto seed = seedVariable(ops.front());
    if (failed(seed))
      return failure();
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    auto key = keyOf(function, *seed, b);
    for (RandomOpInterface op : ops)
      op.getKeyMutable().assign(key);
    return success();
  }

  /// Seed and attempt. A function that runs several times in an attempt has a
  /// third part, the micro-batch.
  SmallVector<Value> keyOf(func::FuncOp function, VariableOp seed,
                           ImplicitLocOpBuilder &b) {
    auto count = RankedTensorType::get({}, b.getI64Type());
    Value attempt;
    std::string name = (function.getName() + "." + kAttemptedVariable).str();
    if (auto tries = getOperation().lookupSymbol<VariableOp>(name))
      attempt = ReadOp::create(b, count, tries.getSymName());
    else
      attempt = splat(b, count, 0);
    return {ReadOp::create(b, count, seed.getSymName()), attempt};
  }

  /// The module's one, made where missing.
  FailureOr<VariableOp> seedVariable(Operation *user) {
    ModuleOp module = getOperation();
    Builder b(module.getContext());
    auto type = RankedTensorType::get({}, b.getI64Type());
    if (Operation *known = module.lookupSymbol(kSeedVariable)) {
      auto variable = dyn_cast<VariableOp>(known);
      if (variable && variable.getType() == type)
        return variable;
      return known->emitOpError()
             << "has the name of the variable that holds the seed, which is "
             << type << ": give it another one";
    }
    VariableOp variable = createVariable(module, user->getLoc(), kSeedVariable,
                                         type, StateKind::attempt, 0);
    variable.setInitAttr(InitAttr::get(module.getContext(), InitFormula::seed,
                                       b.getDictionaryAttr({})));
    return variable;
  }
};
} // namespace
