//===- Autodiff.cpp - append the backward graph ---------------------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/autodiff/Differentiate.h"

namespace mp {
#define GEN_PASS_DEF_AUTODIFF
#include "passes/autodiff/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct Autodiff : mp::impl::AutodiffBase<Autodiff> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    origins.clear();
    if (!function.empty()) {
      auto source = symbols.lookup<func::FuncOp>(function);
      if (!source) {
        getOperation().emitError()
            << "there is no function @" << function << " to differentiate";
        return signalPassFailure();
      }
      return failed(differentiateArguments(source, symbols))
                 ? signalPassFailure()
                 : void();
    }
    for (TrainOp recipe : llvm::to_vector(getOperation().getOps<TrainOp>()))
      if (failed(buildStep(recipe, symbols)))
        return signalPassFailure();
  }

private:
  /// Makes the copy that backward is appended to. Gradients inside of it come
  /// first.
  FailureOr<func::FuncOp> clone(func::FuncOp source, StringRef name,
                                SymbolTable &symbols) {
    if (Operation *other = symbols.lookup(name)) {
      auto diagnostic = source.emitOpError() << "is to be differentiated as @"
                                             << name << ", which exists";
      diagnostic.attachNote(other->getLoc()) << "here";
      return diagnostic;
    }
    if (failed(checkDifferentiable(source)))
      return failure();
    func::FuncOp copy = source.clone();
    copy.setName(name);
    copy.setPublic();
    symbols.insert(copy, std::next(source->getIterator()));
    if (failed(expandGradients(copy, origins)))
      return failure();
    return copy;
  }

  /// Builds `@f.gradient`: the float arguments' gradients of result 0.
  LogicalResult differentiateArguments(func::FuncOp source,
                                       SymbolTable &symbols) {
    auto copy = clone(source, (source.getName() + ".gradient").str(), symbols);
    if (failed(copy))
      return failure();
    auto *terminator = copy->getBody().front().getTerminator();
    if (terminator->getNumOperands() == 0 ||
        !isFloatTensor(terminator->getOperand(0)) ||
        tensorType(terminator->getOperand(0)).getRank() != 0)
      return source.emitOpError()
             << "result 0 must be one float to be differentiated";
    SmallVector<Value> sources;
    for (Value argument : copy->getArguments())
      if (isFloatTensor(argument))
        sources.push_back(argument);
    Differentiator differentiator(*copy, sources, origins);
    if (failed(differentiate(differentiator, terminator, 0)))
      return failure();
    SmallVector<Value> results;
    ImplicitLocOpBuilder builder(copy->getLoc(), terminator);
    for (Value argument : sources) {
      Value gradient = differentiator.gradientOf(argument);
      results.push_back(gradient ? gradient
                                 : splat(builder, tensorType(argument), 0));
    }
    terminator->setOperands(results);
    copy->removeResAttrsAttr();
    copy->setType(builder.getFunctionType(copy->getArgumentTypes(),
                                          ValueRange(results).getTypes()));
    dropScaleGradients(*copy);
    eraseDead(*copy);
    return success();
  }

  LogicalResult buildStep(TrainOp recipe, SymbolTable &symbols) {
    auto source = symbols.lookup<func::FuncOp>(recipe.getFunction());
    if (auto mode = source->getAttrOfType<StringAttr>(kModeAttr);
        mode && mode.getValue() != "train")
      return source.emitOpError() << "evaluates, and is not differentiated: "
                                     "run mp-set-mode{mode=train}";
    auto assignment = assignParameters(recipe, source);
    if (failed(assignment))
      return failure();
    auto step = clone(source, recipe.getEntry(), symbols);
    if (failed(step))
      return failure();
    // After the recipe is erased, nothing calls it.
    source.setPrivate();

    for (auto &[result, reads] : readsByLoss(*step, recipe, *assignment)) {
      SmallVector<Value> sources;
      for (auto &[name, values] : reads)
        llvm::append_range(sources, values);
      Differentiator differentiator(*step, sources, origins);
      if (failed(differentiate(
              differentiator, step->getBody().front().getTerminator(), result)))
        return failure();
      if (!returnGradients(*step, reads, differentiator))
        return recipe.emitOpError()
               << "has nothing to train: no parameter reaches result " << result
               << " of @" << recipe.getFunction();
    }
    dropScaleGradients(*step);
    eraseDead(*step);
    return success();
  }

  /// Builds the backward of a result.
  static LogicalResult differentiate(Differentiator &differentiator,
                                     Operation *terminator, unsigned result) {
    Value root = terminator->getOperand(result);
    ImplicitLocOpBuilder builder(backwardOf(root.getLoc()), terminator);
    Value seed = SeedOp::create(builder, root.getType());
    return differentiator.run(root, seed, terminator);
  }

  using Reads = llvm::MapVector<StringAttr, SmallVector<Value>>;

  /// Returns, for every result that is minimised, in the order of the groups,
  /// the reads of the parameters that minimise it.
  static llvm::MapVector<unsigned, Reads>
  readsByLoss(func::FuncOp step, TrainOp recipe,
              const ParameterAssignment &assignment) {
    llvm::MapVector<unsigned, Reads> losses;
    for (auto minimize : recipe.getBody().getOps<MinimizeOp>())
      losses[minimize.getResult()];
    for (auto read : step.getBody().getOps<ReadOp>())
      if (MinimizeOp group =
              assignment.lookup(read.getVariableAttr().getAttr()))
        losses[group.getResult()][read.getVariableAttr().getAttr()].push_back(
            read.getResult());
    return losses;
  }

  /// Returns whether there is any gradient; warns of a parameter without one.
  static bool returnGradients(func::FuncOp step, const Reads &reads,
                              Differentiator &differentiator) {
    ImplicitLocOpBuilder builder(step.getLoc(),
                                 step.getBody().front().getTerminator());
    SmallVector<Value> gradients;
    SmallVector<NamedAttribute> owners;
    for (auto &[name, values] : reads) {
      Value gradient;
      for (Value value : values)
        if (Value part = differentiator.gradientOf(value))
          gradient =
              gradient ? Value(AddOp::create(builder, gradient, part)) : part;
      if (!gradient) {
        emitWarning(values.front().getLoc())
            << "parameter @" << name.getValue() << " does not reach the loss";
        continue;
      }
      gradients.push_back(gradient);
      owners.push_back(
          builder.getNamedAttr(kGradientAttr, FlatSymbolRefAttr::get(name)));
    }
    appendResults(step, gradients, owners);
    return !gradients.empty();
  }

  GradientOrigins origins;
};
} // namespace
