//===- LossScale.cpp - scale, unscale, check, adapt -----------------------===//
#include "passes/Passes.h"
#include "passes/Recipe.h"
#include "passes/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_LOSSSCALE
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// The scaler's variables, and its fields.
struct ScalerState {
  ScalerOp scaler;
  VariableOp scale, tracker;
};

struct LossScale : mp::impl::LossScaleBase<LossScale> {
  using Base::Base;

  void runOnOperation() override {
    if (!scaler.empty() && scaler != "none" && scaler != "torch") {
      getOperation().emitError()
          << "unknown scaler \"" << scaler << "\", expected torch or none";
      return signalPassFailure();
    }
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (failed(scaleStep(recipe)))
        return signalPassFailure();
  }

private:
  LogicalResult scaleStep(TrainOp recipe) {
    ScalerOp chosen = chooseScaler(recipe);
    if (!chosen)
      warnUnscaled(recipe);
    if (!chosen || !chosen.getEnabled())
      return success();
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
        return step.emitOpError()
               << "its loss is " << element
               << ", in which the scaled loss would overflow: cast it to f32";
    buildScaling(step, seeds, createState(chosen));
    return success();
  }

  /// Without an option the precision is the recipe's too. One who wants no
  /// scaler says so, by the option or by a scaler that is not enabled.
  void warnUnscaled(TrainOp recipe) {
    auto autocast = recipe.getAutocastAttr();
    if (scaler.empty() && autocast && autocast.getDtype().isF16())
      recipe.emitWarning() << kWithoutScaler;
  }

  ScalerOp chooseScaler(TrainOp recipe) {
    if (scaler == "none")
      return {};
    if (recipe.getScaler())
      return SymbolTable::lookupNearestSymbolFrom<ScalerOp>(
          recipe, recipe.getScalerAttr());
    if (scaler.empty())
      return {};
    // Recipes that name none share one.
    if (auto known = getOperation().lookupSymbol<ScalerOp>("scaler"))
      return known;
    OpBuilder builder(recipe);
    OperationState state(recipe.getLoc(), ScalerOp::getOperationName());
    state.addAttribute(SymbolTable::getSymbolAttrName(),
                       builder.getStringAttr("scaler"));
    return cast<ScalerOp>(builder.create(state));
  }

  ScalerState createState(ScalerOp scaler) {
    auto number = [&](Type element) {
      return RankedTensorType::get({}, element);
    };
    Builder builder(&getContext());
    auto create = [&](StringRef name, Type element, double initial) {
      return VariableTable(getOperation())
          .create(scaler.getLoc(), (scaler.getSymName() + "." + name).str(),
                  number(element), StateKind::scaler, initial);
    };
    return {scaler,
            create("scale", builder.getF32Type(),
                   scaler.getInitScale().convertToDouble()),
            create("growth_tracker", builder.getI32Type(), 0)};
  }

  /// The backward of every loss begins from the one scale.
  static void buildScaling(func::FuncOp step, ArrayRef<SeedOp> seeds,
                           ScalerState state) {
    ImplicitLocOpBuilder b(seeds.front()->getLoc(), step.getContext());
    b.setInsertionPointToStart(&step.getBody().front());
    Value scale = ReadOp::create(b, state.scale.getTensorType(),
                                 state.scale.getSymName());
    for (SeedOp seed : seeds) {
      b.setInsertionPointAfter(seed);
      auto scaled = ScaleOp::create(b, seed, scale);
      seed.getResult().replaceAllUsesExcept(scaled, scaled);
    }

    auto *terminator = step.getBody().front().getTerminator();
    b.setInsertionPoint(terminator);
    Value foundInf;
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      if (!step.getResultAttr(i, kGradientAttr))
        continue;
      auto unscaled =
          UnscaleAndCheckOp::create(b, terminator->getOperand(i), scale);
      terminator->setOperand(i, unscaled.getUnscaled());
      foundInf = foundInf
                     ? Value(OrOp::create(b, foundInf, unscaled.getFoundInf()))
                     : unscaled.getFoundInf();
    }
    if (!foundInf)
      foundInf =
          ConstantOp::create(b, RankedTensorType::get({}, b.getI1Type()), 0.0);
    buildUpdate(b, state, scale, foundInf);
    appendNamedResult(step, scale, kScaleResult);
    appendNamedResult(step, foundInf, kSkippedResult);
    auto types = llvm::to_vector(terminator->getOperandTypes());
    step.setType(b.getFunctionType(step.getArgumentTypes(), types));
  }

  static void buildUpdate(ImplicitLocOpBuilder &b, ScalerState state,
                          Value scale, Value foundInf) {
    Value tracker = ReadOp::create(b, state.tracker.getTensorType(),
                                   state.tracker.getSymName());
    auto update = UpdateScaleOp::create(b, scale, tracker, foundInf,
                                        state.scaler.getGrowthFactorAttr(),
                                        state.scaler.getBackoffFactorAttr(),
                                        state.scaler.getGrowthIntervalAttr());
    WriteOp::create(b, state.scale.getSymName(), update.getNewScale(), Value());
    WriteOp::create(b, state.tracker.getSymName(), update.getNewGrowthTracker(),
                    Value());
  }
};
} // namespace
