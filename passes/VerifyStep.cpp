//===- VerifyStep.cpp - prove the protocol of a step ----------------------===//
#include "passes/Passes.h"
#include "passes/Recipe.h"

namespace mp {
#define GEN_PASS_DEF_VERIFYSTEP
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// All values that a value is computed from, itself included, not looking
/// behind values for which `stop` holds.
DenseSet<Value> slice(Value root, function_ref<bool(Value)> stop) {
  DenseSet<Value> seen;
  SmallVector<Value> work{root};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second || stop(value))
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(work, op->getOperands());
  }
  return seen;
}

struct VerifyStep : mp::impl::VerifyStepBase<VerifyStep> {
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
    bool ok = succeeded(checkWrites(step, skipped)) &
              succeeded(checkGradients(step)) &
              succeeded(checkFlag(step, skipped)) &
              succeeded(checkWindow(step, skipped));
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static LogicalResult checkWrites(func::FuncOp step, OpOperand *skipped) {
    llvm::DenseMap<StringAttr, WriteOp> written;
    for (auto write : step.getOps<WriteOp>()) {
      auto [known, isNew] =
          written.try_emplace(write.getVariableAttr().getAttr(), write);
      if (!isNew) {
        auto diagnostic = write.emitOpError()
                          << "writes @" << write.getVariable()
                          << " a second time";
        diagnostic.attachNote(known->second.getLoc()) << "the first time";
        return diagnostic;
      }
      if (skipped && failed(checkGuard(write, skipped->get())))
        return failure();
    }
    return success();
  }

  static bool isNegation(Value value, Value of) {
    auto negation = value.getDefiningOp<NotOp>();
    return negation && negation.getInput() == of;
  }

  static LogicalResult checkGuard(WriteOp write, Value skipped) {
    auto kind = lookupVariable(write, write.getVariableAttr()).getKind();
    if (countsTries(write)) {
      if (write.getPredicate())
        return write.emitOpError()
               << "writes @" << write.getVariable()
               << " only where the step is applied, but a "
               << stringifyStateKind(kind) << " changes with every try";
      return success();
    }
    if (!write.getPredicate() || !(isNegation(write.getPredicate(), skipped) ||
                                   isNegation(skipped, write.getPredicate())))
      return write.emitOpError()
             << "writes @" << write.getVariable()
             << " although the step may be skipped: run mp-predicate-step";
    return success();
  }

  /// Micro-batches leave all other state alone and hand their flag on; the step
  /// that applies them heeds it.
  static LogicalResult checkWindow(func::FuncOp step, OpOperand *skipped) {
    if (phaseOf(step) == kApplyPhase)
      return checkWindowFlags(step, skipped);
    if (phaseOf(step) != kAccumulatePhase)
      return success();
    bool keepsFlag = !skipped;
    for (auto write : step.getOps<WriteOp>()) {
      auto kind = lookupVariable(write, write.getVariableAttr()).getKind();
      if (kind != StateKind::window)
        return write.emitOpError()
               << "writes @" << write.getVariable() << ", a "
               << stringifyStateKind(kind)
               << ", for a micro-batch, which writes window variables alone";
      keepsFlag |= skipped && write.getValue() == skipped->get();
    }
    if (!keepsFlag)
      return step.emitOpError()
             << "gives its flag to no window variable, so that nobody skips";
    return success();
  }

  static LogicalResult checkWindowFlags(func::FuncOp step, OpOperand *skipped) {
    DenseSet<Value> reached;
    if (skipped)
      reached = slice(skipped->get(), [](Value) { return false; });
    std::string flag = (step.getName() + "." + kFoundInfVariable).str();
    for (auto read : step.getOps<ReadOp>())
      if (read.getVariable() == flag && !reached.contains(read))
        return read.emitOpError() << "reads the window's flag @" << flag
                                  << ", which does not reach the step's flag";
    return success();
  }

  /// No scaled gradient reaches a variable but through the unscaling.
  static LogicalResult checkGradients(func::FuncOp step) {
    auto isUnscaled = [](Value value) {
      return bool(value.getDefiningOp<UnscaleAndCheckOp>());
    };
    for (auto write : step.getOps<WriteOp>())
      for (Value value : slice(write.getValue(), isUnscaled))
        if (auto scale = value.getDefiningOp<ScaleOp>()) {
          auto diagnostic = write.emitOpError()
                            << "writes @" << write.getVariable()
                            << " from a gradient that is still scaled";
          diagnostic.attachNote(scale.getLoc()) << "scaled here";
          return diagnostic;
        }
    return success();
  }

  /// Every check decides.
  static LogicalResult checkFlag(func::FuncOp step, OpOperand *skipped) {
    auto checks = llvm::to_vector(step.getOps<UnscaleAndCheckOp>());
    if (checks.empty())
      return success();
    if (!skipped)
      return step.emitOpError()
             << "checks gradients but returns no result named \""
             << kSkippedResult << "\"";
    auto reached = slice(skipped->get(), [](Value) { return false; });
    for (UnscaleAndCheckOp check : checks)
      if (!reached.contains(check.getFoundInf()))
        return check.emitOpError() << "does not reach the step's flag";
    return success();
  }
};
} // namespace
