//===- RandomKeys.cpp - where random ops take their key from --------------===//
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_RANDOMKEYS
#include "passes/step/Passes.h.inc"
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

  /// Returns seed and attempt. A function that takes micro-batches runs several
  /// times in an attempt, so its key also has their index.
  SmallVector<Value> keyOf(func::FuncOp function, VariableOp seed,
                           ImplicitLocOpBuilder &b) {
    auto count = RankedTensorType::get({}, b.getI64Type());
    std::string name = (stepName(function) + "." + kAttemptedVariable).str();
    auto attempts = getOperation().lookupSymbol<VariableOp>(name);
    SmallVector<Value> key{ReadOp::create(b, count, seed.getSymName()),
                           attempts ? Value(ReadOp::create(b, count, name))
                                    : splat(b, count, 0)};
    if (VariableOp micro = lookupMicroBatch(function))
      key.push_back(ReadOp::create(b, count, micro.getSymName()));
    return key;
  }

  /// Returns the module's seed variable; creates it if missing.
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
    VariableOp variable = VariableTable(module).create(
        user->getLoc(), kSeedVariable, type, StateKind::attempt, 0);
    variable.setInitAttr(InitAttr::get(module.getContext(), InitFormula::seed,
                                       b.getDictionaryAttr({})));
    return variable;
  }
};
} // namespace
