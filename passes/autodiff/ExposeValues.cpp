//===- ExposeValues.cpp - return values and gradients of ops --------------===//
#include "dialect/ops/Autocast.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/autodiff/Differentiate.h"
#include "llvm/ADT/SetVector.h"

namespace mp {
#define GEN_PASS_DEF_EXPOSEVALUES
#include "passes/autodiff/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct ExposeValues : mp::impl::ExposeValuesBase<ExposeValues> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(expose(function)))
        return signalPassFailure();
    // Recipes minimise results that are not returned any more.
    for (TrainOp recipe : llvm::to_vector(getOperation().getOps<TrainOp>()))
      recipe.erase();
  }

private:
  /// Returns the function's values after its results, and then their gradients.
  LogicalResult expose(func::FuncOp function) {
    auto trains = [&](TrainOp recipe) {
      return recipe.getFunction() == function.getName();
    };
    // An untrained function has no gradients.
    if (!values && llvm::none_of(getOperation().getOps<TrainOp>(), trains))
      return success();
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has control flow, whose values are not "
                                       "returned";
    for (AutocastOp region : function.getOps<AutocastOp>())
      return region.emitOpError("mp-autocast has to take the region away "
                                "first");
    names.assign(function.getNumResults(), "");
    Operation *terminator = function.getBody().front().getTerminator();
    origins.clear();
    for (Operation &op : function.getBody().front())
      if (auto number = op.getAttrOfType<IntegerAttr>(kNumberAttr))
        for (OpResult result : op.getResults())
          if (isFloatTensor(result))
            append(terminator, result,
                   llvm::Twine(number.getInt()) + "." +
                       llvm::Twine(result.getResultNumber()),
                   "value.");
    size_t exposed = names.size();
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (gradients && trains(recipe) &&
          failed(exposeGradients(recipe, function, exposed)))
        return failure();
    dropReturned(function, terminator,
                 values ? function.getNumResults() : exposed);
    return success();
  }

  void append(Operation *terminator, Value value, const llvm::Twine &place,
              const llvm::Twine &kind) {
    terminator->insertOperands(terminator->getNumOperands(), value);
    names.push_back((kind + place).str());
  }

  /// Returns the maker of a value, and its place.
  static Attribute describe(Value value) {
    return NameLoc::get(StringAttr::get(value.getContext(), originOf(value)),
                        value.getLoc());
  }

  LogicalResult exposeGradients(TrainOp recipe, func::FuncOp function,
                                size_t exposed) {
    auto assignment = assignParameters(recipe, function);
    if (failed(assignment) || failed(checkDifferentiable(function)))
      return failure();
    GradientOrigins asked;
    if (failed(expandGradients(function, asked)))
      return failure();
    Operation *terminator = function.getBody().front().getTerminator();
    llvm::MapVector<unsigned, SmallVector<Value>> losses;
    for (auto read : function.getBody().getOps<ReadOp>())
      if (MinimizeOp group =
              assignment->lookup(read.getVariableAttr().getAttr()))
        losses[group.getResult()].push_back(read.getResult());
    auto number = RankedTensorType::get({}, Float32Type::get(&getContext()));
    for (auto &[loss, reads] : losses) {
      Differentiator differentiator(function, reads, asked);
      Value root = terminator->getOperand(loss);
      ImplicitLocOpBuilder builder(backwardOf(root.getLoc()), terminator);
      Value seed = SeedOp::create(builder, root.getType());
      if (scale != 1)
        seed = ScaleOp::create(builder, seed, splat(builder, number, scale));
      if (failed(differentiator.run(root, seed, terminator)))
        return failure();
      for (size_t i = function.getNumResults(); i < exposed; ++i)
        if (Value gradient =
                differentiator.gradientOf(terminator->getOperand(i))) {
          if (!values)
            origins[names.size()] = describe(terminator->getOperand(i));
          append(terminator, gradient,
                 StringRef(names[i]).drop_front(strlen("value.")),
                 "gradient." + llvm::Twine(loss) + ".");
        }
    }
    return success();
  }

  /// Drops the results before the first one that is exposed.
  void dropReturned(func::FuncOp function, Operation *terminator,
                    size_t first) {
    terminator->eraseOperands(0, first);
    function.removeResAttrsAttr();
    function.setType(FunctionType::get(&getContext(),
                                       function.getArgumentTypes(),
                                       terminator->getOperandTypes()));
    for (auto [i, name] : llvm::enumerate(ArrayRef(names).drop_front(first))) {
      function.setResultAttr(i, kNameAttr,
                             StringAttr::get(&getContext(), name));
      if (Attribute origin = origins.lookup(first + i))
        function.setResultAttr(i, kOriginAttr, origin);
    }
    eraseDead(function);
  }

  /// The names of all results; "" for those of the function itself.
  std::vector<std::string> names;
  /// The makers of gradients, by their place in `names`.
  DenseMap<size_t, Attribute> origins;
};
} // namespace
