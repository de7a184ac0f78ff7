//===- ClipGradients.cpp - bound gradients --------------------------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Optimizer.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/SettingOptions.h"
#include "passes/analysis/VariableTable.h"
#include <cmath>

namespace mp {
#define GEN_PASS_DEF_CLIPGRADIENTS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// A gradient that the step returns.
struct Gradient {
  OpOperand *returned;
  MinimizeOp group;
  Location parameter;
  Value square; ///< the sum of its elements' squares
};

struct ClipGradients
    : PassWithSettings<mp::impl::ClipGradientsBase<ClipGradients>,
                       &RecipeSettings::clipNorm, &RecipeSettings::clipValue> {
  using PassWithSettings::PassWithSettings;

  void runOnOperation() override {
    RecipeSettings settings = getSettings();
    if (failed(check(settings)))
      return signalPassFailure();
    for (TrainOp recipe : getOperation().getOps<TrainOp>()) {
      override(recipe, settings.clipNorm, settings.clipValue);
      if (clips(recipe) && failed(clip(recipe)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult check(const RecipeSettings &settings) {
    for (double limit : {settings.clipNorm, settings.clipValue})
      if (!(limit >= 0))
        return getOperation().emitError() << "gradients are to be clipped to "
                                          << limit << ", expected more than 0";
    if (settings.clipNorm != 0 && settings.clipValue != 0)
      return getOperation().emitError()
             << "gradients are to be clipped by norm and by value: choose one";
    return success();
  }

  /// Writes the limits of the options into the recipe.
  void override(TrainOp recipe, double norm, double value) {
    if (norm == 0 && value == 0)
      return;
    auto set = [](auto op, double norm, double value) {
      Builder builder(op.getContext());
      auto attribute = [&](double limit) {
        return limit > 0 && std::isfinite(limit)
                   ? builder.getF64FloatAttr(limit)
                   : FloatAttr();
      };
      op.setClipNormAttr(attribute(norm));
      op.setClipValueAttr(attribute(value));
    };
    set(recipe, norm, value);
    for (auto group : recipe.getBody().getOps<MinimizeOp>())
      set(group, 0, 0);
  }

  LogicalResult clip(TrainOp recipe) {
    func::FuncOp step = lookupStep(recipe);
    if (!step)
      return recipe.emitOpError()
             << "has no step yet: run mp-autodiff before mp-clip-gradients";
    if (namedResult(step, kGradientNormResult))
      return step.emitOpError() << "is clipped already";
    auto gradients = collect(recipe, step);
    if (failed(gradients))
      return failure();
    Operation *terminator = step.getBody().front().getTerminator();
    ImplicitLocOpBuilder b(recipe.getLoc(), terminator);
    SmallVector<Value> squares;
    for (Gradient &gradient : *gradients) {
      b.setLoc(gradient.parameter);
      gradient.square = sumOfSquares(b, gradient.returned->get());
      squares.push_back(gradient.square);
    }
    b.setLoc(recipe.getLoc());
    Value total = normOf(b, squares);
    if (recipe.getClipNorm())
      skipTogether(step);
    if (clipsGradients(recipe))
      clipTogether(recipe, *gradients, b, total);
    else
      for (auto group : recipe.getBody().getOps<MinimizeOp>())
        clipGroup(group, *gradients, b);
    auto types = llvm::to_vector(terminator->getOperandTypes());
    step.setType(b.getFunctionType(step.getArgumentTypes(), types));
    appendNamedResult(step, total, kGradientNormResult);
    return success();
  }

  /// Makes a norm that is not finite skip the updates of all optimizers.
  static void skipTogether(func::FuncOp step) {
    for (SkippedFlag flag : skippedFlags(step))
      flag.returned->set(namedResult(step, kSkippedResult)->get());
  }

  /// Returns the gradients, in the type of the parameters that they update.
  static FailureOr<SmallVector<Gradient>> collect(TrainOp recipe,
                                                  func::FuncOp step) {
    auto assignment = assignParameters(recipe, step);
    if (failed(assignment))
      return failure();
    Operation *terminator = step.getBody().front().getTerminator();
    VariableTable variables(step->getParentOfType<ModuleOp>());
    SmallVector<Gradient> gradients;
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto name = step.getResultAttrOfType<FlatSymbolRefAttr>(i, kGradientAttr);
      VariableOp parameter =
          name ? variables.lookup(name.getValue()) : VariableOp();
      MinimizeOp group =
          name ? assignment->lookup(name.getAttr()) : MinimizeOp();
      if (!parameter || !group)
        continue; // mp-optimizer reports the error
      OpOperand &returned = terminator->getOpOperand(i);
      if (ScaleOp scale = findScaling(returned.get())) {
        auto diagnostic = group.emitOpError()
                          << "clips the gradient of @" << name.getValue()
                          << ", which is still scaled: run mp-loss-scale "
                             "before mp-clip-gradients";
        diagnostic.attachNote(scale.getLoc()) << "scaled here";
        return diagnostic;
      }
      ImplicitLocOpBuilder b(parameter.getLoc(), terminator);
      returned.set(
          castTo(b, returned.get(), computeType(elementType(returned.get()))));
      gradients.push_back({&returned, group, parameter.getLoc(), Value()});
    }
    return gradients;
  }

  static bool clips(TrainOp recipe) {
    return clipsGradients(recipe) ||
           llvm::any_of(recipe.getBody().getOps<MinimizeOp>(),
                        [](MinimizeOp group) { return clipsGradients(group); });
  }

  static void clipGroup(MinimizeOp group, ArrayRef<Gradient> gradients,
                        ImplicitLocOpBuilder &b) {
    SmallVector<Gradient> own;
    SmallVector<Value> squares;
    for (const Gradient &gradient : gradients)
      if (gradient.group == group) {
        own.push_back(gradient);
        squares.push_back(gradient.square);
      }
    b.setLoc(group.getLoc());
    if (clipsGradients(group) && !own.empty())
      clipTogether(group, own, b,
                   group.getClipNorm() ? normOf(b, squares) : Value());
  }

  /// `op` is the recipe or a group, `norm` that of its gradients.
  template <typename Op>
  static void clipTogether(Op op, ArrayRef<Gradient> gradients,
                           ImplicitLocOpBuilder &b, Value norm) {
    Value factor;
    if (auto most = op.getClipNorm())
      factor = ClipFactorOp::create(b, norm, *most);
    for (const Gradient &gradient : gradients) {
      Value x = gradient.returned->get();
      b.setLoc(gradient.parameter);
      if (factor)
        gradient.returned->set(
            MulOp::create(b, x, castTo(b, factor, elementType(x))));
      else
        gradient.returned->set(
            between(b, x, op.getClipValue()->convertToDouble()));
    }
  }

  static Value between(ImplicitLocOpBuilder &b, Value x, double limit) {
    auto number = RankedTensorType::get({}, elementType(x));
    Value low = MaximumOp::create(b, x, splat(b, number, -limit));
    return MinimumOp::create(b, low, splat(b, number, limit));
  }
};
} // namespace

std::unique_ptr<Pass> mp::createClipGradients(const RecipeSettings &settings) {
  return std::make_unique<ClipGradients>(settings);
}
