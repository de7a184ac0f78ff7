//===- Autocast.cpp - insert casts by a policy ----------------------------===//
//
// The rule of torch.autocast: op by op in order, each by the category that the
// policy gives it, before differentiation, so that backward runs in the types
// forward chose.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/Policy.h"

namespace mp {
#define GEN_PASS_DEF_AUTOCAST
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// The type that floats of two types promote to; between the two 16-bit types,
/// f32.
FloatType widest(FloatType lhs, FloatType rhs) {
  if (lhs == rhs)
    return lhs;
  if (lhs.getWidth() == rhs.getWidth())
    return Float32Type::get(lhs.getContext());
  return lhs.getWidth() > rhs.getWidth() ? lhs : rhs;
}

/// Casts in one function.
class Caster {
public:
  Caster(const Policy &policy, FloatType low) : policy(policy), low(low) {}

  LogicalResult run(func::FuncOp function) {
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (auto facts = dyn_cast<AutocastOpInterface>(op))
        if (failed(visit(facts)))
          return failure();
    // Results have the types that autocast left them with, as in PyTorch.
    auto types = llvm::to_vector(
        function.getBody().front().getTerminator()->getOperandTypes());
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(), types));
    return success();
  }

private:
  LogicalResult visit(AutocastOpInterface op) {
    StringRef name = op.getAutocastName(policy.system());
    auto operands = eligibleOperands(op);
    FloatType target;
    Category category =
        name.empty() ? Category::Native : policy.categoryOf(name);
    switch (category) {
    case Category::Banned:
      return op.emitError()
             << "is banned under autocast: it overflows in " << low << " (\""
             << name << "\" of the policy); use the form on logits";
    case Category::Allow:
      target = low;
      break;
    case Category::Deny:
      target = Float32Type::get(op.getContext());
      break;
    case Category::Promote:
    case Category::Native:
      target = widestOf(operands);
      break;
    }
    if (category == Category::Allow) {
      op.setComputeType(low.isTF32() ? low : FloatType());
      if (low.isTF32())
        target = Float32Type::get(op.getContext());
    }
    for (OpOperand *operand : operands) {
      if (elementType(operand->get()) != target)
        explain(op, *operand, category, target);
      operand->set(castOnce(operand->get(), target));
    }
    return op.retypeResults();
  }

  /// Says which operand is cast and why, for `--remarks-filter=mp-autocast`.
  static void explain(Operation *op, OpOperand &operand, Category category,
                      FloatType target) {
    StringRef why = category == Category::Allow
                        ? "the policy allows the op in the low type"
                    : category == Category::Deny
                        ? "the policy wants the op in f32"
                        : "operands of several types promote to the widest";
    std::string text;
    llvm::raw_string_ostream(text)
        << op->getName() << ": operand " << operand.getOperandNumber()
        << " from " << elementType(operand.get()) << " to " << target << ": "
        << why;
    remark::passed(op->getLoc(),
                   remark::RemarkOpts::name("cast").category("mp-autocast"))
        << text;
  }

  static SmallVector<OpOperand *> eligibleOperands(AutocastOpInterface op) {
    SmallVector<OpOperand *> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<FloatType>(elementType(operand.get()));
      if (type && !type.isF64() &&
          op.isAutocastEligible(operand.getOperandNumber()))
        operands.push_back(&operand);
    }
    return operands;
  }

  static FloatType widestOf(ArrayRef<OpOperand *> operands) {
    FloatType type;
    for (OpOperand *operand : operands) {
      auto next = cast<FloatType>(elementType(operand->get()));
      type = type ? widest(type, next) : next;
    }
    return type;
  }

  /// The value in another type; made once, right behind the value.
  Value castOnce(Value value, FloatType type) {
    if (!type || elementType(value) == type)
      return value;
    Value &known = casts[{value, type}];
    if (!known) {
      ImplicitLocOpBuilder builder(value.getLoc(), value.getContext());
      builder.setInsertionPointAfterValue(value);
      known = castTo(builder, value, type);
    }
    return known;
  }

  const Policy &policy;
  FloatType low;
  DenseMap<std::pair<Value, Type>, Value> casts;
};

/// Every op's name in a system.
std::vector<std::string> registeredNames(MLIRContext *context,
                                         StringRef system) {
  std::vector<std::string> names;
  for (RegisteredOperationName op :
       context->getRegisteredOperationsByDialect("mp"))
    if (auto *facts = op.getInterface<AutocastOpInterface>())
      if (StringRef name = facts->getAutocastName(system); !name.empty())
        names.push_back(name.str());
  return names;
}

struct Autocast : mp::impl::AutocastBase<Autocast> {
  using Base::Base;

  void runOnOperation() override {
    if (mode != "eager") {
      getOperation().emitError()
          << "autocast mode is \"" << mode << "\", expected eager";
      return signalPassFailure();
    }
    auto recipes = llvm::to_vector(getOperation().getOps<TrainOp>());
    if (recipes.empty() && !dtype.empty()) {
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (failed(run(function, dtype, policy)))
          return signalPassFailure();
      return;
    }
    for (TrainOp recipe : recipes) {
      auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          recipe, recipe.getFunctionAttr());
      auto [type, name] = choice(recipe);
      if (failed(run(function, type, name)))
        return signalPassFailure();
    }
  }

private:
  /// What the options say, or else the recipe.
  std::pair<std::string, std::string> choice(TrainOp recipe) {
    std::string type = dtype, name = policy;
    if (auto wanted = recipe.getAutocastAttr()) {
      if (type.empty())
        llvm::raw_string_ostream(type) << wanted.getDtype();
      if (name.empty())
        name = wanted.getPolicy().str();
    }
    return {type, name};
  }

  LogicalResult run(func::FuncOp function, StringRef type, StringRef name) {
    if (type.empty() || type == "f32" || function.isExternal())
      return success();
    FloatType low =
        type == "f16"    ? FloatType(Float16Type::get(&getContext()))
        : type == "bf16" ? FloatType(BFloat16Type::get(&getContext()))
        : type == "tf32" ? FloatType(FloatTF32Type::get(&getContext()))
                         : FloatType();
    if (!low)
      return function.emitOpError() << "autocast to \"" << type
                                    << "\", expected f16, bf16, tf32 or f32";
    auto loaded = Policy::load(name.empty() ? "torch" : name);
    if (!loaded)
      return function.emitOpError() << toString(loaded.takeError());
    auto known = registeredNames(&getContext(), loaded->system());
    if (llvm::Error error = llvm::joinErrors(
            loaded->move(llvm::to_vector(allow), Category::Allow, known),
            loaded->move(llvm::to_vector(deny), Category::Deny, known)))
      return function.emitOpError() << toString(std::move(error));
    if (!function.getBody().hasOneBlock())
      return function.emitOpError()
             << "has control flow, in which casts are not decided";
    return Caster(*loaded, low).run(function);
  }
};
} // namespace
