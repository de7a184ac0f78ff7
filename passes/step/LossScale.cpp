//===- LossScale.cpp - scale, unscale, check, adapt -----------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaler.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_LOSSSCALE
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// The variables from which a step takes the scale, and by which it changes it.
struct ScalerState {
  ScalerFields fields;
  VariableOp scale, tracker; ///< null if the scale never changes
  SmallVector<VariableOp> counters;
};

struct LossScale : mp::impl::LossScaleBase<LossScale> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkScaler(getOperation(), {scaler, defaultScaler})))
      return signalPassFailure();
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (failed(scaleStep(recipe)))
        return signalPassFailure();
  }

private:
  LogicalResult scaleStep(TrainOp recipe) {
    std::string preset = scalerPreset(recipe, {scaler, defaultScaler});
    if (preset == "none") {
      warnUnscaled(recipe);
      return success();
    }
    ScalerOp chosen = makeScaler(recipe, preset);
    if (chosen.getFields().mode == ScalerFields::Mode::Calibrated)
      return recipe.emitOpError()
             << "its loss scale is static:auto, which mp-run train chooses by "
                "a calibration: name one here, as static:N (--scaler static:1; "
                "mp-run calibrate prints what suits)";
    func::FuncOp step = lookupStep(recipe);
    if (!step)
      return recipe.emitOpError()
             << "has no step yet: run mp-autodiff before mp-loss-scale";
    auto seeds = llvm::to_vector(step.getBody().getOps<SeedOp>());
    if (namedResult(step, kScaleResult))
      return step.emitOpError() << "is scaled already";
    if (namedResult(step, kGradientNormResult))
      return step.emitOpError() << "is clipped already, which is for unscaled "
                                   "gradients: run mp-loss-scale before "
                                   "mp-clip-gradients";
    if (!phaseOf(step).empty())
      return step.emitOpError()
             << "is split already: run mp-loss-scale before mp-accumulate";
    if (seeds.empty())
      return step.emitOpError() << "has no mp.seed, where backward begins";
    for (SeedOp seed : seeds)
      if (Type element = seed.getType().getElementType();
          !element.isF32() && !element.isF64())
        return emitError(seed.getLoc())
               << "the loss is " << element
               << ", in which the scaled loss would overflow: compute it in "
                  "f32, with {mp.autocast = \"f32\"} on its op or by a cast";
    return buildScaling(recipe, step, seeds, createState(chosen));
  }

  /// Warns of f16 without a scaler. Without an option the precision is the
  /// recipe's too. To train without a scaler, the option or a scaler that is
  /// not enabled must say so.
  void warnUnscaled(TrainOp recipe) {
    auto autocast = recipe.getAutocastAttr();
    if (scaler.empty() && defaultScaler.empty() && !recipe.getScaler() &&
        autocast && autocast.getDtype().isF16())
      recipe.emitWarning() << kWithoutScaler;
  }

  /// Makes a scaler with the preset's fields alone in the place of the recipe's
  /// own, whose name and so whose state it keeps. Recipes that name none share
  /// one.
  static ScalerOp makeScaler(TrainOp recipe, StringRef preset) {
    OpBuilder builder(recipe);
    StringRef name =
        recipe.getScaler() ? *recipe.getScaler() : StringRef("scaler");
    auto known = SymbolTable::lookupNearestSymbolFrom<ScalerOp>(
        recipe, builder.getStringAttr(name));
    if (known && known.getEnabled() && known.getPreset() == preset)
      return known;
    OperationState state(known ? known.getLoc() : recipe.getLoc(),
                         ScalerOp::getOperationName());
    state.addAttribute(SymbolTable::getSymbolAttrName(),
                       builder.getStringAttr(name));
    state.addAttribute("preset", builder.getStringAttr(preset));
    if (known)
      known.erase();
    return cast<ScalerOp>(builder.create(state));
  }

  ScalerState createState(ScalerOp scaler) {
    ScalerState state;
    state.fields = scaler.getFields();
    if (state.fields.mode != ScalerFields::Mode::Dynamic)
      return state;
    Builder builder(&getContext());
    VariableTable variables(getOperation());
    auto create = [&](StringRef name, Type element, double initial,
                      StateRole role) {
      return variables.create(scaler.getLoc(),
                              (scaler.getSymName() + "." + name).str(),
                              RankedTensorType::get({}, element),
                              StateKind::scaler, initial, variables.role(role));
    };
    auto createTracker = [&](StringRef name, double initial) {
      return create(name, builder.getI32Type(), initial, StateRole::tracker);
    };
    state.scale = create("scale", builder.getF32Type(), state.fields.initScale,
                         StateRole::scale);
    state.tracker = createTracker("growth_tracker", -state.fields.growthDelay);
    if (state.fields.hysteresis > 1)
      state.counters.push_back(
          createTracker("hysteresis_tracker", state.fields.hysteresis));
    if (state.fields.tolerance > 0)
      for (StringRef name : {"steps_since_rescale", "overflows_since_rescale"})
        state.counters.push_back(createTracker(name, 0));
    return state;
  }

  /// Multiplies the scale into every loss: each backward begins with it.
  static LogicalResult buildScaling(TrainOp recipe, func::FuncOp step,
                                    ArrayRef<SeedOp> seeds, ScalerState state) {
    ImplicitLocOpBuilder b(seeds.front()->getLoc(), step.getContext());
    b.setInsertionPointToStart(&step.getBody().front());
    Value scale = state.scale
                      ? read(b, state.scale)
                      : splat(b, RankedTensorType::get({}, b.getF32Type()),
                              state.fields.initScale);
    for (SeedOp seed : seeds) {
      b.setInsertionPointAfter(seed);
      auto scaled = ScaleOp::create(b, seed, scale);
      seed.getResult().replaceAllUsesExcept(scaled, scaled);
    }

    auto *terminator = step.getBody().front().getTerminator();
    b.setInsertionPoint(terminator);
    auto optimizers = optimizersOf(recipe);
    auto places = placesOf(recipe, step, optimizers);
    if (failed(places))
      return failure();
    SmallVector<Value> own(optimizers.size()); // flags
    auto add = [&](Value &to, Value flag) {
      to = to && flag ? Value(OrOp::create(b, to, flag)) : to ? to : flag;
    };
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto parameter =
          step.getResultAttrOfType<FlatSymbolRefAttr>(i, kGradientAttr);
      if (!parameter)
        continue;
      Value gradient = terminator->getOperand(i);
      b.setLoc(gradient.getLoc());
      auto unscaled = UnscaleAndCheckOp::create(b, gradient, scale);
      terminator->setOperand(i, unscaled.getUnscaled());
      add(own[places->lookup(parameter.getAttr())], unscaled.getFoundInf());
    }
    b.setLoc(seeds.front()->getLoc());
    Value foundInf;
    for (Value flag : own)
      add(foundInf, flag);
    if (!foundInf)
      foundInf =
          ConstantOp::create(b, RankedTensorType::get({}, b.getI1Type()), 0.0);
    appendNamedResult(step, scale, kScaleResult);
    appendNamedResult(step, foundInf, kSkippedResult);
    for (auto [optimizer, flag] : llvm::zip_equal(optimizers, own))
      if (flag && optimizers.size() > 1)
        appendNamedResult(step, flag,
                          withOptimizer(kSkippedResult, optimizer.name));
    if (state.scale)
      buildUpdate(step, b, state, scale, foundInf);
    auto types = llvm::to_vector(terminator->getOperandTypes());
    step.setType(b.getFunctionType(step.getArgumentTypes(), types));
    return success();
  }

  /// Returns the optimizer of each parameter; empty if there is only one.
  static FailureOr<DenseMap<StringAttr, unsigned>>
  placesOf(TrainOp recipe, func::FuncOp step,
           ArrayRef<OptimizerGroups> optimizers) {
    DenseMap<StringAttr, unsigned> places;
    if (optimizers.size() == 1)
      return places;
    auto assignment = assignParameters(recipe, step);
    if (failed(assignment))
      return failure();
    for (auto &[parameter, group] : *assignment)
      for (auto [place, optimizer] : llvm::enumerate(optimizers))
        if (llvm::is_contained(optimizer.groups, group))
          places[parameter] = place;
    return places;
  }

  static Value read(ImplicitLocOpBuilder &b, VariableOp variable) {
    return ReadOp::create(b, variable.getTensorType(), variable.getSymName());
  }

  static void buildUpdate(func::FuncOp step, ImplicitLocOpBuilder &b,
                          const ScalerState &state, Value scale,
                          Value foundInf) {
    const ScalerFields &fields = state.fields;
    auto counters = llvm::map_to_vector(
        state.counters, [&](VariableOp counter) { return read(b, counter); });
    auto update = UpdateScaleOp::create(b, scale, read(b, state.tracker),
                                        foundInf, counters, fields);
    auto write = [&](VariableOp variable, Value value) {
      WriteOp::create(b, variable.getSymName(), value, Value());
    };
    write(state.scale, update.getNewScale());
    write(state.tracker, update.getNewGrowthTracker());
    for (auto [counter, value] :
         llvm::zip_equal(state.counters, update.getNewCounters()))
      write(counter, value);
    if (fields.onMin != OnMin::Hold)
      appendNamedResult(step, update.getExhausted(), kExhaustedResult);
  }
};
} // namespace
