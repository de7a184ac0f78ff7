//===- VerifyStep.cpp - prove the protocol of a step ----------------------===//
#include "dialect/ops/Collective.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaler.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Optimizer.h"
#include "dialect/ops/Schedule.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/RankFlow.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/StepFlow.h"
#include "passes/analysis/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_VERIFYSTEP
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// The proof of one function.
class Proof {
public:
  explicit Proof(func::FuncOp step)
      : step(step), variables(step->getParentOfType<ModuleOp>()), flow(step),
        flags(skippedFlags(step)) {
    if (OpOperand *returned = namedResult(step, kSkippedResult))
      skipped = returned->get();
  }

  LogicalResult run() {
    if (failed(checkWrittenOnce()))
      return failure();
    // All checks run, so that all faults are reported.
    LogicalResult checks[] = {checkWrites(), checkSchedules(), checkGradients(),
                              checkScales(), checkFlags(),     checkWindow(),
                              checkRanks()};
    return success(llvm::all_of(
        checks, [](LogicalResult check) { return succeeded(check); }));
  }

private:
  //===--------------------------------------------------------------------===//
  // Writes
  //===--------------------------------------------------------------------===//

  LogicalResult checkWrittenOnce() {
    for (auto write : step.getOps<WriteOp>()) {
      auto [known, isNew] =
          writes.try_emplace(write.getVariableAttr().getAttr(), write);
      if (isNew)
        continue;
      auto diagnostic = write.emitOpError() << "writes @" << write.getVariable()
                                            << " a second time";
      diagnostic.attachNote(known->second.getLoc()) << "the first time";
      return diagnostic;
    }
    return success();
  }

  LogicalResult checkWrites() {
    if (flags.empty())
      return success();
    for (auto write : step.getOps<WriteOp>())
      if (failed(variables.changesWhenSkipped(write) ? checkAttempt(write)
                                                     : checkGuard(write)))
        return failure();
    return success();
  }

  LogicalResult checkAttempt(WriteOp write) {
    if (!write.getPredicate())
      return success();
    return write.emitOpError() << "writes @" << write.getVariable()
                               << " only where the step is applied, but a "
                               << stringifyStateKind(kindOf(write))
                               << " changes with every attempt";
  }

  LogicalResult checkGuard(WriteOp write) {
    Value flag = guardOf(write);
    if (!flag)
      return write.emitOpError()
             << "writes @" << write.getVariable()
             << " although the step may be skipped: run mp-predicate-step";
    for (UnscaleAndCheckOp check :
         flow.checksOf(write.getValue(), checkedBehind[flag]))
      if (!flow.sets(check, flag)) {
        auto diagnostic = refuse(write, flag)
                          << ", which a gradient that is not finite "
                             "would leave clear";
        diagnostic.attachNote(check.getLoc()) << "checked here";
        return diagnostic;
      }
    StateKind kind = kindOf(write);
    bool isForAll = kind == StateKind::buffer ||
                    (kind != StateKind::slot && !flow.checks().empty() &&
                     !flow.hasChecks(write.getValue()));
    if (isForAll && flag != skipped)
      return refuse(write, flag) << ", but no optimizer's gradient is in it: "
                                    "its guard is \"skipped\"";
    return kind == StateKind::buffer ? success() : checkState(write, flag);
  }

  /// Checks that the state that a write is computed from changes together with
  /// it.
  LogicalResult checkState(WriteOp write, Value flag) {
    for (ReadOp read : flow.readsOf(write.getValue(), readBehind[flag])) {
      StateKind kind = variables.lookup(read.getVariable()).getKind();
      bool counts = kind == StateKind::attempt || kind == StateKind::scaler;
      if (counts && !flow.checks().empty()) {
        auto diagnostic = write.emitOpError()
                          << "writes @" << write.getVariable() << " from @"
                          << read.getVariable()
                          << ", which a skipped step changes";
        diagnostic.attachNote(read.getLoc()) << "read here";
        return diagnostic;
      }
      if (kind == StateKind::slot &&
          failed(checkSame(write, flag, read.getVariableAttr(),
                           "which is computed from it")))
        return failure();
    }
    if (auto source = variables.lookup(write.getVariable()).getSourceAttr())
      return checkSame(write, flag, source, "which is derived from it");
    return success();
  }

  LogicalResult checkSame(WriteOp write, Value flag, FlatSymbolRefAttr other,
                          StringRef relation) {
    WriteOp found = writes.lookup(other.getAttr());
    Value foundFlag = found ? guardOf(found) : flag;
    if (!foundFlag || foundFlag == flag)
      return success(); // a missing guard has an error of its own
    auto diagnostic = refuse(found, foundFlag)
                      << ", but @" << write.getVariable() << ", " << relation
                      << ", is guarded by \"" << nameOf(flag) << "\"";
    diagnostic.attachNote(write.getLoc()) << "written here";
    return diagnostic;
  }

  InFlightDiagnostic refuse(WriteOp write, Value flag) {
    return write.emitOpError() << "writes @" << write.getVariable()
                               << " guarded by \"" << nameOf(flag) << "\"";
  }

  /// Returns the flag whose negation is a write's predicate, or null.
  Value guardOf(WriteOp write) {
    auto isNegation = [](Value value, Value of) {
      auto negation = value.getDefiningOp<NotOp>();
      return negation && negation.getInput() == of;
    };
    Value ok = write.getPredicate();
    for (SkippedFlag flag : flags)
      if (Value value = flag.returned->get();
          ok && (isNegation(ok, value) || isNegation(value, ok)))
        return value;
    return {};
  }

  std::string nameOf(Value flag) {
    auto *named = llvm::find_if(
        flags, [&](SkippedFlag one) { return one.returned->get() == flag; });
    return withOptimizer(kSkippedResult, named->optimizer);
  }

  StateKind kindOf(WriteOp write) {
    return variables.lookup(write.getVariable()).getKind();
  }

  /// Checks that learning rates follow applied steps only.
  LogicalResult checkSchedules() {
    if (flags.empty())
      return success();
    StepFlow::Seen seen;
    for (auto schedule : step.getOps<ScheduleOp>())
      for (ReadOp read : flow.readsOf(schedule.getApplied(), seen))
        if (auto variable = variables.lookup(read.getVariable());
            VariableTable::changesWhenSkipped(variable.getKind()))
          return schedule.emitOpError()
                 << "follows @" << read.getVariable()
                 << ", which a skipped step changes, and the learning rate "
                    "with it";
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Gradients and flags
  //===--------------------------------------------------------------------===//

  /// Checks that scaled gradients reach variables only after unscaling, and
  /// that none is clipped before.
  LogicalResult checkGradients() {
    DenseSet<Value> scaled;
    for (Operation &op : step.getBody().front()) {
      bool isScaled = isa<ScaleOp>(op) ||
                      llvm::any_of(op.getOperands(), [&](Value operand) {
                        return scaled.contains(operand);
                      });
      if (!isScaled || isa<UnscaleAndCheckOp>(op))
        continue;
      if (auto exchange = dyn_cast<AllReduceOp>(op)) {
        // Tensors that travel together stay apart.
        for (auto [own, all] :
             llvm::zip_equal(exchange.getInputs(), exchange.getOutputs()))
          if (scaled.contains(own))
            scaled.insert(all);
        continue;
      }
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

  /// Checks that gradients are divided by the scale that backward began with:
  /// the one of all losses.
  LogicalResult checkScales() {
    ScaleOp begin;
    for (auto scale : step.getOps<ScaleOp>()) {
      if (!scale.getInput().getDefiningOp<SeedOp>())
        continue;
      if (begin && begin.getScale() != scale.getScale())
        return refuseScale(scale, begin,
                           "begins backward with another scale than another "
                           "loss does");
      begin = scale;
    }
    for (auto check : step.getOps<UnscaleAndCheckOp>())
      if (begin && check.getScale() != begin.getScale())
        return refuseScale(check, begin,
                           "unscales by another scale than backward begins "
                           "with");
    return success();
  }

  static LogicalResult refuseScale(Operation *op, ScaleOp begin,
                                   const Twine &what) {
    auto diagnostic = op->emitOpError() << what;
    diagnostic.attachNote(begin.getLoc()) << "scaled here";
    return diagnostic;
  }

  static LogicalResult refuseScaled(Operation *op, Value value,
                                    const Twine &what) {
    auto diagnostic = op->emitOpError() << what;
    if (ScaleOp scale = findScaling(value))
      diagnostic.attachNote(scale.getLoc()) << "scaled here";
    return diagnostic;
  }

  /// Checks that every check of gradients reaches a flag, and every flag the
  /// step's.
  LogicalResult checkFlags() {
    if (flow.checks().empty() && flags.empty())
      return success();
    if (!skipped)
      return step.emitOpError()
             << "checks gradients but returns no result named \""
             << kSkippedResult << "\"";
    auto updates = llvm::to_vector(step.getOps<UpdateScaleOp>());
    for (UnscaleAndCheckOp check : flow.checks()) {
      if (!flow.sets(check, skipped))
        return check.emitOpError() << "does not reach the step's flag";
      for (UpdateScaleOp update : updates)
        if (!flow.sets(check, update.getFoundInf())) {
          auto diagnostic = check.emitOpError()
                            << "does not reach the scaler's update";
          diagnostic.attachNote(update.getLoc()) << "the update";
          return diagnostic;
        }
    }
    if (phaseOf(step) == kAccumulateEntry)
      return success(); // each continues with its own state
    for (SkippedFlag flag : flags)
      for (Value part : SetVector(flow.partsOf(flag.returned->get())))
        if (!flow.partsOf(skipped).contains(part) && !isGathered(part) &&
            !part.getDefiningOp<ConstantOp>())
          return step.emitOpError()
                 << "may set \"" << kSkippedResult << "." << flag.optimizer
                 << "\" alone, without \"" << kSkippedResult << "\"";
    return success();
  }

  /// Whether a flag comes from micro-batches, whose checks were all verified.
  bool isGathered(Value flag) {
    Operation *op = flag.getDefiningOp();
    auto read = dyn_cast_if_present<ReadOp>(op);
    return (op && op->getParentOp() != step) ||
           (read && variables.lookup(read.getVariable()).getKind() ==
                        StateKind::window);
  }

  //===--------------------------------------------------------------------===//
  // Micro-batches
  //===--------------------------------------------------------------------===//

  /// Checks that micro-batches leave all other state alone and pass on their
  /// flags, and that the step that applies them is guarded by these.
  LogicalResult checkWindow() {
    if (phaseOf(step) == kApplyEntry)
      return checkWindowFlags();
    if (phaseOf(step) != kAccumulateEntry)
      return success();
    for (auto write : step.getOps<WriteOp>())
      if (StateKind kind = kindOf(write); kind != StateKind::window)
        return write.emitOpError()
               << "writes @" << write.getVariable() << ", a "
               << stringifyStateKind(kind)
               << ", for a micro-batch, which writes window variables alone";
    for (SkippedFlag flag : flags)
      if (failed(checkKept(flag.returned->get())))
        return failure();
    return success();
  }

  LogicalResult checkKept(Value flag) {
    for (auto write : step.getOps<WriteOp>()) {
      if (write.getValue() != flag)
        continue;
      StepFlow::Seen seen;
      if (llvm::any_of(flow.readsOf(flag, seen), [&](ReadOp read) {
            return read.getVariable() == write.getVariable();
          }))
        return success();
      return write.emitOpError()
             << "forgets what the micro-batches before left in @"
             << write.getVariable();
    }
    return step.emitOpError()
           << "gives its flag to no window variable, so that nobody skips";
  }

  LogicalResult checkWindowFlags() {
    std::string first = (step.getName() + "." + kFoundInfVariable).str();
    for (auto read : step.getOps<ReadOp>()) {
      StringRef name = read.getVariable();
      bool isFlag =
          name.consume_front(first) && (name.empty() || name.starts_with("."));
      if (isFlag && llvm::none_of(flags, [&](SkippedFlag flag) {
            return flow.partsOf(flag.returned->get()).contains(read);
          }))
        return read.emitOpError()
               << "reads the window's flag @" << read.getVariable()
               << ", which does not reach the step's flag";
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Ranks
  //===--------------------------------------------------------------------===//

  /// Checks that all ranks leave the same state: that they skip together, and
  /// write nothing that one of them has computed alone.
  LogicalResult checkRanks() {
    if (!step->hasAttr(kRanksAttr))
      return success();
    RankFlow ranks(step);
    for (SkippedFlag flag : flags)
      if (Value own = flag.returned->get(); ranks.differs(own))
        return step.emitOpError()
               << "may be skipped on one rank alone: its flag comes from "
               << originOf(ranks.originOf(own)) << " without mp.all_reduce or";
    for (auto write : step.getOps<WriteOp>())
      for (Value operand : write->getOperands())
        if (ranks.differs(operand) && !isOfRank(write, operand)) {
          Value origin = ranks.originOf(operand);
          auto diagnostic =
              write.emitOpError()
              << "gives @" << write.getVariable()
              << (operand == write.getValue() ? " a value" : " a condition")
              << " that each rank computes alone, from " << originOf(origin);
          diagnostic.attachNote(origin.getLoc()) << "here";
          return diagnostic;
        }
    return success();
  }

  /// Whether a write gives a rank what is its own: its window, and its part of
  /// a tensor.
  bool isOfRank(WriteOp write, Value operand) {
    VariableOp variable = variables.lookup(write.getVariable());
    return variable.getKind() == StateKind::window ||
           (variable.getPartOf() && operand == write.getValue());
  }

  func::FuncOp step;
  VariableTable variables;
  StepFlow flow;
  SmallVector<SkippedFlag, 1> flags;
  Value skipped; ///< null if nothing is skipped
  /// What writes with a flag were found to be computed from.
  DenseMap<Value, StepFlow::Seen> checkedBehind, readBehind;
  DenseMap<StringAttr, WriteOp> writes;
};

struct VerifyStep : mp::impl::VerifyStepBase<VerifyStep> {
  using Base::Base;

  void runOnOperation() override {
    for (auto step : getOperation().getOps<func::FuncOp>())
      if (!step.isExternal() && failed(verify(step)))
        signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static LogicalResult verify(func::FuncOp step) {
    if (!step.getBody().hasOneBlock())
      return step.emitOpError() << "has control flow, which no step has";
    return Proof(step).run();
  }
};
} // namespace
