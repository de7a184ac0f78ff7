//===- AutocastEager.cpp - casts op by op ---------------------------------===//
#include "passes/autocast/AutocastEager.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Loop.h"
#include "dialect/ops/State.h"
#include "passes/analysis/Constants.h"
#include "passes/autocast/AutocastCasts.h"

using namespace mlir;
using namespace mp;

namespace {
/// Returns the type that floats of two types promote to; between the two 16-bit
/// types, f32.
FloatType widest(FloatType lhs, FloatType rhs) {
  if (lhs == rhs)
    return lhs;
  if (lhs.getWidth() == rhs.getWidth())
    return Float32Type::get(lhs.getContext());
  return lhs.getWidth() > rhs.getWidth() ? lhs : rhs;
}

FloatType typeOf(OpOperand *operand) {
  return cast<FloatType>(elementType(operand->get()));
}

FloatType widestOf(ArrayRef<OpOperand *> operands) {
  FloatType type;
  for (OpOperand *operand : operands)
    type = type ? widest(type, typeOf(operand)) : typeOf(operand);
  return type;
}

class CastInserter {
public:
  CastInserter(const AutocastScopes &scopes, MLIRContext *context,
               AutocastReport &report)
      : scopes(scopes), wide(Float32Type::get(context)), report(report) {}

  /// Remembers the types that values have before anything is cast.
  void remember(Block &body) {
    for (Operation &op : body)
      for (Value result : op.getResults())
        if (auto type = dyn_cast<FloatType>(elementType(result)))
          before[result] = type;
  }

  LogicalResult visit(AutocastOpInterface op) {
    const AutocastScope &scope = scopes.of(op);
    low = scope.low;
    CastDecision decision = scope.decide(op);
    auto operands = eligibleOperands(op);
    tooNarrow = nullptr;
    auto target = targetFor(op, decision, operands);
    if (failed(target))
      return failure();
    report.decide(op, decision.category, *target, decision.rule);
    if (tooNarrow)
      report.keepWide(*tooNarrow, whyNotExact(tooNarrow->get(), low), low);
    if (decision.category == Category::Result && !operands.empty())
      operands.truncate(1);
    if (decision.category == Category::Allow)
      op.setComputeType(low.isTF32() ? low : FloatType());
    for (OpOperand *operand : operands)
      if (failed(castOperand(op, *operand, *target, decision)))
        return failure();
    if (!operands.empty())
      keepOthers(op);
    markStorage(op, scope);
    if (decision.category == Category::Allow)
      keepReturnedSums(op, scope, report);
    return op.retypeResults();
  }

  /// The body of a loop keeps the types of its arguments.
  void visit(LoopOp loop) {
    for (OpOperand &operand : loop->getOpOperands())
      restore(operand);
  }

  /// A variable keeps its type.
  void castWritten(WriteOp write) {
    auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(
        write, write.getVariableAttr());
    OpOperand &value = write.getValueMutable();
    if (auto type = dyn_cast<FloatType>(variable.getType().getElementType()))
      casts.cast(value, type, report);
  }

  /// Casts outputs to f32, or to the types that the function declares.
  void castOutputs(func::FuncOp function, Outputs outputs) {
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      auto type = dyn_cast<FloatType>(elementType(operand.get()));
      if (!type || type.getWidth() > 32)
        continue;
      auto declared = cast<RankedTensorType>(
          function.getResultTypes()[operand.getOperandNumber()]);
      auto target = outputs == Outputs::Wide
                        ? wide
                        : cast<FloatType>(declared.getElementType());
      operand.set(casts.get(operand.get(), target));
    }
  }

private:
  /// Returns the type for the op's eligible operands.
  FailureOr<FloatType> targetFor(AutocastOpInterface op,
                                 const CastDecision &decision,
                                 ArrayRef<OpOperand *> operands) {
    switch (decision.category) {
    case Category::Banned:
      return emitBanned(op, low, decision);
    case Category::Allow:
    case Category::Boundary:
      return low.isTF32() ? wide : low;
    case Category::Deny:
    case Category::Result:
    case Category::Barrier:
      return wide;
    case Category::Promote:
      for (OpOperand *operand : operands)
        if (FloatType type = typeOf(operand);
            type.getWidth() == 16 && type != low)
          return op.emitError()
                 << "has an operand of " << type << " under autocast to " << low
                 << ", and its operands promote (" << decision.rule
                 << "); cast it to " << low << " or to f32";
      return widestOf(operands);
    case Category::Native:
      return widestOf(operands);
    case Category::Follow:
    case Category::Infer:
    case Category::Clear:
      return followed(operands);
    }
    llvm_unreachable("all categories handled");
  }

  /// Returns low if one operand is low and the others are too or cost nothing
  /// to make so: variables, and constants that low can hold.
  FloatType followed(ArrayRef<OpOperand *> operands) {
    bool hasLow = false;
    OpOperand *lossy = nullptr;
    for (OpOperand *operand : operands) {
      Value value = operand->get();
      bool isConstant = value.getDefiningOp<ConstantOp>();
      if (typeOf(operand) == low)
        hasLow = true;
      else if (!isConstant && !value.getDefiningOp<ReadOp>())
        return wide;
      else if (!lossy && !whyNotExact(value, low).empty())
        lossy = operand;
    }
    if (hasLow)
      tooNarrow = lossy;
    return hasLow && !lossy ? low : wide;
  }

  /// Restores the type of operands that a policy may not cast, as a norm's
  /// weight, if the op that makes them was cast.
  void keepOthers(AutocastOpInterface op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!op.isAutocastEligible(operand.getOperandNumber()))
        restore(operand);
  }

  /// Casts an operand to the type that it had, if its maker was cast.
  void restore(OpOperand &operand) {
    FloatType type = before.lookup(operand.get());
    if (type && elementType(operand.get()) != type)
      casts.cast(operand, type, report);
  }

  LogicalResult castOperand(AutocastOpInterface op, OpOperand &operand,
                            FloatType target, const CastDecision &decision) {
    if (elementType(operand.get()) == target)
      return success();
    if (target == low && failed(checkConstant(operand, low, decision.rule)))
      return failure();
    casts.cast(operand, target, report);
    return success();
  }

  const AutocastScopes &scopes;
  FloatType wide;
  // The low type of the op that is visited.
  FloatType low;
  OpOperand *tooNarrow = nullptr; ///< a constant, the only reason for f32
  AutocastReport &report;
  CastCache casts;
  DenseMap<Value, FloatType> before;
};
} // namespace

LogicalResult mp::castEagerly(func::FuncOp function,
                              const AutocastScopes &scopes,
                              AutocastReport &report) {
  CastInserter inserter(scopes, function.getContext(), report);
  Block &body = function.getBody().front();
  inserter.remember(body);
  for (Operation &op : llvm::make_early_inc_range(body))
    if (auto facts = dyn_cast<AutocastOpInterface>(op)) {
      if (failed(inserter.visit(facts)))
        return failure();
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      inserter.visit(loop);
    }
  for (auto write : body.getOps<WriteOp>())
    inserter.castWritten(write);
  const AutocastScope &outermost = scopes.outermost();
  if (outermost.isEnabled && outermost.policy->outputs() != Outputs::AsComputed)
    inserter.castOutputs(function, outermost.policy->outputs());
  // Results have the types that autocast left, as in PyTorch.
  auto types = llvm::to_vector(body.getTerminator()->getOperandTypes());
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), types));
  return success();
}
