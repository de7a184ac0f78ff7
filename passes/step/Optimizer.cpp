//===- Optimizer.cpp - expand recipes into updates ------------------------===//
#include "dialect/ops/Optimizer.h"
#include "dialect/UpdateRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Random.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Schedule.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"
#include "passes/step/CopyCheck.h"
#include "support/Spelling.h"

namespace mp {
#define GEN_PASS_DEF_OPTIMIZER
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// One gradient of a step: the result that holds it and its parameter.
struct Gradient {
  unsigned result;
  VariableOp parameter;
  MinimizeOp group;
  Value indices; ///< of the rows that it consists of; null: it is whole
};

/// One optimizer's part of a step.
struct Part {
  std::string name;            ///< empty if the recipe has only one optimizer
  Value applied, current;      ///< its applied steps: before, with this one
  SmallVector<Value> squares;  ///< of gradients without a clipped norm
  SmallVector<WriteOp> writes; ///< all writes that it leaves out if it skips
};

/// Expands one recipe in its step.
class Expansion {
public:
  Expansion(TrainOp recipe, func::FuncOp step, const OptimizerOptions &options)
      : recipe(recipe), step(step), module(recipe->getParentOfType<ModuleOp>()),
        variables(module), options(options),
        b(recipe.getLoc(), step.getBody().front().getTerminator()) {
    auto optimizers = optimizersOf(recipe);
    parts.resize(optimizers.size());
    for (auto [part, optimizer] : llvm::zip_equal(parts, optimizers)) {
      if (parts.size() > 1)
        part.name = optimizer.name;
      for (MinimizeOp group : optimizer.groups)
        partOf[group] = &part;
    }
  }

  LogicalResult run() {
    auto gradients = collect();
    if (failed(gradients) || failed(checkClipping()) ||
        failed(returnGradients(*gradients)))
      return failure();
    buildCounters();
    Value learningRate;
    for (const Gradient &gradient : *gradients) {
      auto rate = learningRateOf(gradient.group);
      if (failed(rate))
        return failure();
      learningRate = learningRate ? learningRate : *rate;
      update(gradient, *rate);
    }
    if (learningRate)
      appendNamedResult(step, learningRate, kLearningRateResult);
    checkAll(gradientNorm());
    dropGradients();
    if (parts.size() > 1)
      guardParts();
    return success();
  }

private:
  FailureOr<SmallVector<Gradient>> collect() {
    auto assignment = assignParameters(recipe, step);
    if (failed(assignment))
      return failure();
    SmallVector<Gradient> gradients;
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto name = step.getResultAttrOfType<FlatSymbolRefAttr>(i, kGradientAttr);
      if (!name)
        continue;
      VariableOp parameter = variables.lookup(name.getValue());
      MinimizeOp group = assignment->lookup(name.getAttr());
      if (!parameter || !group)
        return step.emitOpError()
               << "returns a gradient of @" << name.getValue()
               << ", which is not a parameter of the recipe";
      Value indices;
      if (OpOperand *rows = rowsOfGradient(step, name.getValue()))
        indices = rows->get();
      if (isSparse(group.getOptimizer()) && !indices)
        return group.emitOpError() << "is sparse: run mp-sparse-gradients "
                                      "before mp-optimizer";
      auto type = dyn_cast<RankedTensorType>(step.getResultTypes()[i]);
      SmallVector<int64_t> shape(parameter.getTensorType().getShape());
      if (indices)
        shape.front() = tensorType(indices).getNumElements();
      if (!type || type.getShape() != ArrayRef(shape))
        return step.emitOpError() << "returns " << step.getResultTypes()[i]
                                  << " as the gradient of @" << name.getValue()
                                  << ", which is " << parameter.getTensorType();
      Type element = parameter.getTensorType().getElementType();
      bool isRounded = group.getStochasticRounding();
      if (isRounded && element.isF16())
        return parameter.emitOpError() << "is f16, whose range an update may "
                                          "leave: stochastic rounding "
                                          "without a master is for bf16";
      if (!element.isF32() && !element.isF64() && !isRounded)
        return parameter.emitOpError()
               << "is " << element
               << " and has no f32 master weights, without which small updates "
                  "vanish: run "
                  "mp-master-weights before mp-optimizer";
      gradients.push_back({i, parameter, group, indices});
    }
    return gradients;
  }

  /// Checks that a recipe that clips has been through mp-clip-gradients, which
  /// returns the norm.
  LogicalResult checkClipping() {
    isClipped = namedResult(step, kGradientNormResult);
    if (isClipped)
      return success();
    auto check = [](auto op) -> LogicalResult {
      if (!clipsGradients(op))
        return success();
      return op.emitOpError() << "clips gradients: run mp-clip-gradients "
                                 "before mp-optimizer";
    };
    for (auto group : recipe.getBody().getOps<MinimizeOp>())
      if (failed(check(group)))
        return failure();
    return check(recipe);
  }

  /// Builds the counters. Applied steps count in schedules and bias
  /// corrections, each optimizer's by itself; step attempts count in random
  /// numbers and the data position.
  void buildCounters() {
    auto type = RankedTensorType::get({}, b.getI64Type());
    Value one = splat(b, type, 1);
    auto count = [&](const Twine &name, StateKind kind) {
      std::string full = (step.getName() + "." + name).str();
      variables.create(recipe.getLoc(), full, type, kind, 0,
                       variables.role(StateRole::count));
      Value before = ReadOp::create(b, type, full);
      Value after = AddOp::create(b, before, one);
      return std::tuple(before, after,
                        WriteOp::create(b, full, after, Value()));
    };
    for (Part &part : parts) {
      auto [before, after, write] =
          count(part.name.empty() ? "applied" : part.name + ".applied",
                StateKind::slot);
      part.applied = before;
      part.current = after;
      part.writes.push_back(write);
    }
    count(kAttemptedVariable, StateKind::attempt);
  }

  /// Returns the gradients that are asked for, as the optimizer takes them.
  LogicalResult returnGradients(ArrayRef<Gradient> gradients) {
    for (const std::string &name : options.gradients) {
      auto *found = llvm::find_if(gradients, [&](const Gradient &gradient) {
        VariableOp parameter = gradient.parameter;
        return parameter.getSymName() == name;
      });
      if (found == gradients.end()) {
        std::vector<std::string> known;
        for (const Gradient &gradient : gradients) {
          VariableOp parameter = gradient.parameter;
          known.push_back(parameter.getSymName().str());
        }
        return recipe.emitOpError()
               << "trains no parameter '" << name
               << "' whose gradient to return" << suggest(name, known);
      }
      if (found->indices)
        return recipe.emitOpError()
               << "updates rows of parameter '" << name
               << "' (sparse), whose whole gradient it cannot return";
      Value gradient =
          step.getBody().front().getTerminator()->getOperand(found->result);
      appendNamedResult(step, gradient, (kGradientOutput + name).str());
    }
    return success();
  }

  /// Returns the learning rate that the variables make of the recipe's.
  Value steer(Value rate) {
    if (!options.steersLearningRate)
      return rate;
    auto type = RankedTensorType::get({}, b.getF32Type());
    auto read = [&](StringRef suffix, double initial) -> Value {
      std::string name = (step.getName() + suffix).str();
      variables.create(recipe.getLoc(), name, type, StateKind::slot, initial);
      return ReadOp::create(b, type, name);
    };
    Value given = read(kLearningRateVariable, -1);
    Value isGiven =
        CompareOp::create(b, Comparison::ge, given, splat(b, type, 0));
    rate = SelectOp::create(b, isGiven, given, rate);
    return MulOp::create(b, rate, read(kLearningRateFactorVariable, 1));
  }

  FailureOr<Value> learningRateOf(MinimizeOp group) {
    Value &known = rates[group];
    if (known)
      return known;
    auto rate = recipeRateOf(group);
    if (failed(rate))
      return failure();
    return known = steer(*rate);
  }

  FailureOr<Value> recipeRateOf(MinimizeOp group) {
    b.setLoc(group.getLoc());
    auto optimizer = group.getOptimizer();
    Value base = splat(b, RankedTensorType::get({}, b.getF32Type()),
                       optimizer.getLearningRate());
    auto schedule = group.getSchedule();
    if (!schedule || schedule->isConstant())
      return base;
    auto resolved = schedule->withLength([&] { return group.emitOpError(); },
                                         options.totalSteps);
    if (failed(resolved))
      return failure();
    Value factor = ScheduleOp::create(b, partOf.at(group)->applied,
                                      cast<ScheduleAttrInterface>(*resolved));
    return Value(MulOp::create(b, base, factor));
  }

  void update(const Gradient &gradient, Value rate) {
    VariableOp parameter = gradient.parameter;
    MinimizeOp group = gradient.group;
    Part &part = *partOf.at(group);
    // A parameter without a master is updated in f32, the type of its slots.
    auto type = parameter.getTensorType().clone(
        computeType(parameter.getTensorType().getElementType()));
    b.setLoc(parameter.getLoc());
    Value value = castTo(
        b, step.getBody().front().getTerminator()->getOperand(gradient.result),
        type.getElementType());
    Value clippedNorm = measure(part, value);
    auto optimizer = group.getOptimizer();
    indices = gradient.indices;
    if (optimizer.isMaximizing())
      value = NegOp::create(b, value);
    SmallVector<std::string> names;
    SmallVector<Value> slots;
    for (const SlotSpec &slot : optimizer.getSlots()) {
      names.push_back((parameter.getSymName() + "." + slot.name).str());
      variables.create(parameter.getLoc(), names.back(), type, StateKind::slot,
                       slot.initial, variables.slotOf(parameter, slot.name));
      slots.push_back(read(names.back(), type));
    }
    Value old =
        castTo(b, read(parameter.getSymName(), parameter.getTensorType()),
               type.getElementType());
    auto updated =
        optimizer.buildUpdate(b, old, value, slots, rate, part.current);
    ArrayRef<Value> newSlots = ArrayRef(updated).drop_front();
    auto copies = writeParameter(part, parameter, updated.front());
    for (auto [name, slot] : llvm::zip_equal(names, newSlots))
      write(part, name, slot);
    if (auto decay = group.getEma())
      average(part, parameter, updated.front(), *decay);
    if (copies.empty())
      return;
    UpdatedGroup &known = checked[group];
    known.optimizer = optimizer;
    known.learningRate = rate;
    known.step = part.current;
    known.gradientNorm = clippedNorm;
    known.parameters.push_back({parameter, std::move(names), updated.front(),
                                llvm::to_vector(newSlots), copies});
  }

  /// Returns the norm by which a gradient was clipped, as it is now; null if
  /// the norm of all gradients bounds its elements. If that is not known yet,
  /// adds the gradient's part of it.
  Value measure(Part &part, Value gradient) {
    ClipFactorOp clip = isClipped ? clippingOf(gradient) : ClipFactorOp();
    if (clip)
      return MulOp::create(b, clip.getNorm(), clip);
    if (isClipped && parts.size() == 1)
      return {};
    squares.push_back(sumOfSquares(b, gradient));
    part.squares.push_back(squares.back());
    return {};
  }

  /// Reads a variable, or the rows of it that are updated.
  Value read(StringRef name, RankedTensorType type) {
    Value all = ReadOp::create(b, type, name);
    return indices ? Value(GatherOp::create(b, all, indices, 0, false)) : all;
  }

  /// Writes a variable, or the rows of it that are updated.
  void write(Part &part, StringRef name, Value value) {
    if (indices) {
      auto type = variables.lookup(name).getTensorType();
      value = ScatterRowsOp::create(b, value, indices,
                                    ReadOp::create(b, type, name));
    }
    part.writes.push_back(WriteOp::create(b, name, value, Value()));
  }

  /// Updates the moving average of a parameter.
  void average(Part &part, VariableOp parameter, Value value,
               const APFloat &decay) {
    auto type = parameter.getTensorType();
    std::string name = (parameter.getSymName() + ".ema").str();
    variables.create(parameter.getLoc(), name, type, StateKind::slot, 0,
                     variables.averageOf(parameter));
    Value old = ReadOp::create(b, type, name);
    write(part, name, EmaOp::create(b, old, value, part.current, decay));
  }

  /// Writes a parameter together with the variables derived from it. Returns
  /// the copies that may overflow: bf16 has the range of f32; f16 does not, if
  /// it has elements.
  SmallVector<Value> writeParameter(Part &part, VariableOp parameter,
                                    Value value) {
    SmallVector<Value> copies;
    if (elementType(value) != parameter.getTensorType().getElementType())
      value = StochasticRoundOp::create(b, parameter.getTensorType(), value,
                                        ValueRange(), IntegerAttr());
    write(part, parameter.getSymName(), value);
    for (VariableOp copy : variables.derivedFrom(parameter.getSymName())) {
      Type element = copy.getTensorType().getElementType();
      Value low = castTo(b, value, element);
      write(part, copy.getSymName(), low);
      if (element.isF16() && copy.getTensorType().getNumElements() > 0)
        copies.push_back(low);
    }
    return copies;
  }

  /// Checks the groups with a copy that may overflow. Their bounds are named
  /// after the step, and from the second on also by a number.
  void checkAll(Value norm) {
    unsigned count = 0;
    // The checks are independent, so these are the flags before any of them.
    DenseMap<Part *, Value> byGradient, norms;
    for (Part &part : parts)
      if (OpOperand *flag = skippedFlag(step, part.name))
        byGradient[&part] = flag->get();
    for (auto &[group, updated] : checked) {
      Part &part = *partOf.at(group);
      if (!updated.gradientNorm && parts.size() == 1)
        updated.gradientNorm = norm;
      if (!updated.gradientNorm) {
        Value &own = norms[&part];
        own = own ? own : normOf(b, part.squares);
        updated.gradientNorm = own;
      }
      updated.skipped = byGradient.lookup(&part);
      updated.optimizerName = part.name;
      std::string name = step.getName().str();
      if (count++)
        name += "." + std::to_string(count);
      b.setLoc(group->getLoc());
      llvm::append_range(part.writes, checkCopies(step, b, updated, name));
    }
  }

  /// Returns the 2-norm of all gradients together, before clipping.
  Value gradientNorm() {
    if (OpOperand *known = namedResult(step, kGradientNormResult))
      return known->get();
    b.setLoc(recipe.getLoc());
    Value norm = normOf(b, squares);
    appendNamedResult(step, norm, kGradientNormResult);
    return norm;
  }

  void dropGradients() {
    llvm::BitVector dropped(step.getNumResults());
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (step.getResultAttr(i, kGradientAttr) ||
          step.getResultAttr(i, kGradientRowsAttr))
        dropped.set(i);
    (void)step.eraseResults(dropped);
    step.getBody().front().getTerminator()->eraseOperands(dropped);
  }

  /// Guards each optimizer's writes by its own flag, which is clear if nothing
  /// sets it; if there is one optimizer, mp-predicate-step does this.
  void guardParts() {
    if (!namedResult(step, kSkippedResult))
      return;
    b.setLoc(recipe.getLoc());
    for (Part &part : parts) {
      if (!skippedFlag(step, part.name))
        appendNamedResult(step,
                          ConstantOp::create(
                              b, RankedTensorType::get({}, b.getI1Type()), 0.0),
                          withOptimizer(kSkippedResult, part.name));
      Value ok = NotOp::create(b, skippedFlag(step, part.name)->get());
      for (WriteOp write : part.writes) {
        write->moveBefore(step.getBody().front().getTerminator());
        write.getPredicateMutable().assign(ok);
      }
    }
  }

  TrainOp recipe;
  func::FuncOp step;
  ModuleOp module;
  VariableTable variables;
  bool isClipped = false;
  Value indices; ///< of the rows that are being updated; null: all of them
  const OptimizerOptions &options;
  ImplicitLocOpBuilder b;
  SmallVector<Part, 1> parts;
  DenseMap<Operation *, Part *> partOf; ///< by group
  DenseMap<Operation *, Value> rates;
  llvm::MapVector<Operation *, UpdatedGroup> checked;
  SmallVector<Value> squares; ///< in the order of the gradients
};

struct Optimizer : mp::impl::OptimizerBase<Optimizer> {
  using Base::Base;

  void runOnOperation() override {
    if (totalSteps < 0) {
      getOperation().emitError()
          << "total-steps is " << totalSteps.getValue()
          << ", expected the length of the run, or 0 where it is not known";
      return signalPassFailure();
    }
    OptimizerOptions options;
    options.totalSteps = totalSteps;
    options.steersLearningRate = steersLearningRate;
    llvm::append_range(options.gradients, gradients);
    for (TrainOp recipe : llvm::to_vector(getOperation().getOps<TrainOp>())) {
      func::FuncOp step = lookupStep(recipe);
      if (!step) {
        recipe.emitOpError()
            << "has no step yet: run mp-autodiff before mp-optimizer";
        return signalPassFailure();
      }
      if (failed(Expansion(recipe, step, options).run()))
        return signalPassFailure();
      recipe.erase();
    }
  }
};
} // namespace
