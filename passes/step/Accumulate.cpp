//===- Accumulate.cpp - split a step into micro-batches and their update --===//
//
// The step becomes the function that takes a micro-batch, and a new one takes
// its name and applies the gathered gradients. Only window variables pass
// between them; the first micro-batch of a window finds the index 0 and
// overwrites.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/SettingOptions.h"
#include "passes/analysis/VariableTable.h"
#include "passes/step/Exchange.h"

namespace mp {
#define GEN_PASS_DEF_ACCUMULATE
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Splits one step.
class Split {
public:
  Split(func::FuncOp gather, int64_t rows)
      : gather(gather), module(gather->getParentOfType<ModuleOp>()),
        variables(module), name(gather.getName().str()),
        weight(std::max<int64_t>(rows, 1)),
        begin(gather.getLoc(), gather.getContext()),
        g(gather.getLoc(), gather.getBody().front().getTerminator()),
        a(gather.getLoc(), gather.getContext()) {
    begin.setInsertionPointToStart(&gather.getBody().front());
  }

  LogicalResult run() {
    createApply();
    countMicroBatches();
    gatherFlags();
    if (failed(gatherWrites()) || failed(gatherResults()))
      return failure();
    finish();
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Window variables
  //===--------------------------------------------------------------------===//

  std::string windowName(const Twine &what) const {
    return (name + "." + what).str();
  }

  /// Returns the value that the micro-batches before this one left in a window
  /// variable; in the first one it is arbitrary.
  Value recall(const Twine &what, RankedTensorType type, Location location) {
    std::string full = windowName(what);
    variables.create(location, full, type, StateKind::window, 0);
    return ReadOp::create(begin, type, full);
  }
  void keep(const Twine &what, Value value) {
    WriteOp::create(g, windowName(what), value, Value());
  }
  /// Returns the value that all micro-batches left in a window variable.
  Value take(const Twine &what, Type type) {
    return ReadOp::create(a, type, windowName(what));
  }

  /// Adds to a sum, and returns the sum in the other function.
  Value sum(const Twine &what, Value part, Location location) {
    auto type = tensorType(part);
    Value before = recall(what, type, location);
    auto number = RankedTensorType::get({}, type.getElementType());
    Value kept = SelectOp::create(g, first, splat(g, number, 0), before);
    keep(what, AddOp::create(g, kept, part));
    return take(what, type);
  }

  /// Returns, in the other function, the mean over all rows of a mean over each
  /// micro-batch's, in f32, or in f64 for f64.
  Value mean(const Twine &what, Value part, Location location) {
    auto element =
        elementType(part).isF64() ? Type(g.getF64Type()) : Type(g.getF32Type());
    Value wide = castTo(g, part, element);
    if (weight != 1)
      wide = MulOp::create(
          g, wide, splat(g, RankedTensorType::get({}, element), weight));
    Value total = sum(what, wide, location);
    return DivOp::create(a, total, castTo(a, rows, element));
  }

  //===--------------------------------------------------------------------===//
  // The parts
  //===--------------------------------------------------------------------===//

  void createApply() {
    OpBuilder builder(gather);
    builder.setInsertionPointAfter(gather);
    apply = func::FuncOp::create(builder, gather.getLoc(), name,
                                 builder.getFunctionType({}, {}));
    if (Attribute mode = gather->getAttr(kModeAttr))
      apply->setAttr(kModeAttr, mode);
    gather.setName(accumulateName(name));
    gather->setAttr(kPhaseAttr, builder.getStringAttr(kAccumulateEntry));
    apply->setAttr(kPhaseAttr, builder.getStringAttr(kApplyEntry));
    a.setInsertionPointToStart(apply.addEntryBlock());
    a.setInsertionPoint(func::ReturnOp::create(a));
  }

  void countMicroBatches() {
    auto index = RankedTensorType::get({}, g.getI64Type());
    Value micro = recall(kMicroVariable, index, gather.getLoc());
    first =
        CompareOp::create(begin, Comparison::eq, micro, splat(begin, index, 0));
    keep(kMicroVariable, AddOp::create(g, micro, splat(g, index, 1)));
    WriteOp::create(a, windowName(kMicroVariable), splat(a, index, 0), Value());
    auto number = RankedTensorType::get({}, g.getF32Type());
    rows = sum("rows", splat(g, number, weight), gather.getLoc());
  }

  /// A window that was given up may have left a flag.
  void gatherFlags() {
    for (SkippedFlag skipped : skippedFlags(gather)) {
      std::string what = withOptimizer(kFoundInfVariable, skipped.optimizer);
      Value found = skipped.returned->get();
      Value before =
          recall(what, cast<RankedTensorType>(found.getType()), found.getLoc());
      Value earlier = AndOp::create(g, before, NotOp::create(g, first));
      Value flag = OrOp::create(g, found, earlier);
      keep(what, flag);
      moved.map(found, take(what, found.getType()));
      flags.emplace_back(withOptimizer(kSkippedResult, skipped.optimizer),
                         flag);
    }
  }

  LogicalResult gatherWrites() {
    for (auto write : llvm::to_vector(gather.getBody().getOps<WriteOp>())) {
      auto variable = variables.lookup(write.getVariable());
      if (variable.getKind() == StateKind::window)
        continue; // a flag of this pass
      if (failed(variables.changesWhenSkipped(write) ? postpone(write)
                                                     : stage(write, variable)))
        return failure();
      replaced.push_back(write);
    }
    return success();
  }

  /// Moves a write of every step attempt to the end of the window.
  LogicalResult postpone(WriteOp write) {
    auto value = move(write.getValue());
    if (failed(value))
      return write.emitOpError()
             << "writes @" << write.getVariable()
             << " once in a window, but from what every micro-batch computes";
    a.setLoc(write.getLoc());
    WriteOp::create(a, write.getVariable(), *value, Value());
    return success();
  }

  /// Lets each micro-batch find the value that the one before left.
  LogicalResult stage(WriteOp write, VariableOp variable) {
    auto type = variable.getTensorType();
    std::string what = ("staged." + variable.getSymName()).str();
    begin.setLoc(variable.getLoc());
    auto reads = llvm::to_vector(
        llvm::make_filter_range(gather.getOps<ReadOp>(), [&](ReadOp read) {
          return read.getVariable() == write.getVariable();
        }));
    Value initial = ReadOp::create(begin, type, write.getVariable());
    Value before =
        choose(begin, first, initial, recall(what, type, variable.getLoc()));
    for (ReadOp read : reads)
      read.getResult().replaceAllUsesWith(before);
    g.setLoc(write.getLoc());
    Value after = write.getValue();
    if (Value predicate = write.getPredicate())
      after = choose(g, predicate, after, before);
    keep(what, after);
    a.setLoc(write.getLoc());
    WriteOp::create(a, write.getVariable(), take(what, type), Value());
    return success();
  }

  /// Makes gradients and scalars means; flag and scale are the window's.
  LogicalResult gatherResults() {
    auto *terminator = gather.getBody().front().getTerminator();
    for (unsigned i = 0; i < gather.getNumResults(); ++i) {
      Value value = terminator->getOperand(i);
      auto attributes = gather.getResultAttrDict(i);
      g.setLoc(value.getLoc());
      a.setLoc(value.getLoc());
      auto named = gather.getResultAttrOfType<StringAttr>(i, kNameAttr);
      if (named && isOfWindow(named)) {
        auto own = move(value);
        if (failed(own))
          return gather.emitOpError() << "result \"" << named.getValue()
                                      << "\" differs between micro-batches";
        addResult(*own, attributes);
      } else if (auto of = gather.getResultAttrOfType<FlatSymbolRefAttr>(
                     i, kGradientAttr)) {
        auto parameter = variables.lookup(of.getValue());
        addResult(mean("gradient." + of.getValue(), value,
                       parameter ? parameter.getLoc() : value.getLoc()),
                  attributes);
      } else if (tensorType(value).getRank() == 0) {
        std::string what = "mean." + std::to_string(i);
        addResult(mean(what, value, value.getLoc()), attributes);
      }
    }
    return success();
  }

  /// Whether a result is the window's. This holds for flags too, which take
  /// their names from here.
  static bool isOfWindow(StringAttr name) {
    return name == kScaleResult || name == kExhaustedResult ||
           name == kSkippedResult ||
           name.getValue().starts_with((kSkippedResult + ".").str());
  }

  void addResult(Value value, DictionaryAttr attributes) {
    (void)apply.insertResult(apply.getNumResults(), value.getType(),
                             attributes);
    auto *terminator = apply.getBody().front().getTerminator();
    terminator->insertOperands(terminator->getNumOperands(), value);
  }

  /// Returns the value in the other function, if it is the same for all
  /// micro-batches.
  FailureOr<Value> move(Value value) {
    if (Value known = moved.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op)
      return failure();
    for (Value operand : op->getOperands())
      if (failed(move(operand)))
        return failure();
    a.clone(*op, moved);
    return moved.lookup(value);
  }

  /// Returns a micro-batch's flags, so that it can be proved that every check
  /// reaches them.
  void finish() {
    auto *terminator = gather.getBody().front().getTerminator();
    while (gather.getNumResults()) {
      (void)gather.eraseResult(gather.getNumResults() - 1);
      terminator->eraseOperand(terminator->getNumOperands() - 1);
    }
    for (auto &[name, flag] : flags)
      appendNamedResult(gather, flag, name);
    for (WriteOp write : replaced)
      write.erase();
    eraseDead(gather);
  }

  func::FuncOp gather, apply;
  ModuleOp module;
  VariableTable variables;
  std::string name;
  double weight;
  ImplicitLocOpBuilder begin; ///< before the ops of a micro-batch
  ImplicitLocOpBuilder g, a;  ///< at the end of each
  Value first; ///< in gather: whether this is a window's first micro-batch
  /// In gather: the flags known so far that skip the step, by the result's
  /// name.
  SmallVector<std::pair<std::string, Value>, 1> flags;
  Value rows;                    ///< in apply: of all micro-batches
  IRMapping moved;               ///< gather's values of the window, in apply
  SmallVector<WriteOp> replaced; ///< in gather
};

struct Accumulate : PassWithSettings<mp::impl::AccumulateBase<Accumulate>,
                                     &RecipeSettings::accumulate> {
  using PassWithSettings::PassWithSettings;

  void runOnOperation() override {
    int64_t given = getSettings().accumulate;
    if (given < 0 || rows < 0 || ranks < 1) {
      getOperation().emitError()
          << "accumulate is " << given << ", rows " << rows.getValue()
          << " and ranks " << ranks.getValue() << ", expected positive numbers";
      return signalPassFailure();
    }
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (failed(split(recipe, given)))
        return signalPassFailure();
  }

private:
  /// `given`: the number of micro-batches, or 0 for the recipe's.
  LogicalResult split(TrainOp recipe, int64_t given) {
    int64_t count = given ? given : recipe.getAccumulate().value_or(1);
    // Each rank takes one, unless there are to be more.
    if (count == 1 || count == ranks)
      return success();
    if (count % ranks != 0)
      return recipe.emitOpError()
             << "takes " << count << " micro-batches in a step, which "
             << ranks.getValue() << " ranks cannot share equally";
    func::FuncOp step = lookupStep(recipe);
    if (!step)
      return recipe.emitOpError()
             << "has no step yet: run mp-autodiff before mp-accumulate";
    if (!phaseOf(step).empty())
      return step.emitOpError() << "is split already";
    if (failed(refuseGradientsOfRows(
            step, "and micro-batches use other rows each: let a step have one "
                  "batch, or the optimizer update all rows")))
      return failure();
    std::string name = accumulateName(step.getName());
    if (Operation *other = getOperation().lookupSymbol(name)) {
      auto diagnostic = step.emitOpError() << "is to take micro-batches as @"
                                           << name << ", which exists";
      diagnostic.attachNote(other->getLoc()) << "here";
      return diagnostic;
    }
    if (ranks > 1)
      step->setAttr(kShareAttr,
                    Builder(&getContext()).getI64IntegerAttr(count / ranks));
    return Split(step, rows).run();
  }
};
} // namespace

std::unique_ptr<Pass> mp::createAccumulate(const RecipeSettings &settings,
                                           const AccumulateOptions &options) {
  return std::make_unique<Accumulate>(settings, options);
}
