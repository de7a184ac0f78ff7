//===- VerifyStep.cpp - prove the protocol of a step ----------------------===//
#include "passes/Gradients.h"
#include "passes/Passes.h"
#include "passes/Recipe.h"
#include "passes/VariableTable.h"

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
    // All are checked, so that all that is wrong is said.
    LogicalResult checks[] = {checkWrites(step, skipped), checkGradients(step),
                              checkFlag(step, skipped),
                              checkWindow(step, skipped)};
    if (llvm::any_of(checks, [](LogicalResult check) { return failed(check); }))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static LogicalResult checkWrites(func::FuncOp step, OpOperand *skipped) {
    VariableTable variables(step->getParentOfType<ModuleOp>());
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
      if (skipped && failed(checkGuard(variables, write, skipped->get())))
        return failure();
    }
    return success();
  }

  static bool isNegation(Value value, Value of) {
    auto negation = value.getDefiningOp<NotOp>();
    return negation && negation.getInput() == of;
  }

  static LogicalResult checkGuard(const VariableTable &variables, WriteOp write,
                                  Value skipped) {
    if (variables.countsTries(write)) {
      auto kind = variables.lookup(write.getVariable()).getKind();
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
    VariableTable variables(step->getParentOfType<ModuleOp>());
    bool keepsFlag = !skipped;
    for (auto write : step.getOps<WriteOp>()) {
      auto kind = variables.lookup(write.getVariable()).getKind();
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

  /// No scaled gradient reaches a variable but through the unscaling, and none
  /// is clipped.
  static LogicalResult checkGradients(func::FuncOp step) {
    DenseSet<Value> scaled;
    for (Operation &op : step.getBody().front()) {
      bool isScaled = isa<ScaleOp>(op) ||
                      llvm::any_of(op.getOperands(), [&](Value operand) {
                        return scaled.contains(operand);
                      });
      if (!isScaled || isa<UnscaleAndCheckOp>(op))
        continue;
      if (auto clip = dyn_cast<ClipFactorOp>(op))
        return refuseScaled(clip, clip.getNorm(),
                            "clips by the norm of gradients that are still "
                            "scaled");
      if (auto write = dyn_cast<WriteOp>(op);
          write && scaled.contains(write.getValue()))
        return refuseScaled(write, write.getValue(),
                            "writes @" + write.getVariable() +
                                " from a gradient that is still scaled");
      scaled.insert(op.result_begin(), op.result_end());
    }
    return success();
  }

  static LogicalResult refuseScaled(Operation *op, Value value,
                                    const Twine &what) {
    auto diagnostic = op->emitOpError() << what;
    if (ScaleOp scale = findScaling(value))
      diagnostic.attachNote(scale.getLoc()) << "scaled here";
    return diagnostic;
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
