//===- Autodiff.cpp - append the backward graph ---------------------------===//
//
// Reverse mode over SSA: walk the ops backwards, ask each for its adjoint, and
// add up what arrives at a value. What every rule would otherwise repeat is
// done here, once: a gradient is summed back to its operand's shape and cast to
// its operand's type.
//
//===----------------------------------------------------------------------===//
#include "dialect/Adjoint.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Policy.h"
#include "passes/Recipe.h"

namespace mp {
#define GEN_PASS_DEF_AUTODIFF
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Location of a backward op: that of the forward op, marked.
Location backwardOf(Location forward) {
  return FusedLoc::get({forward},
                       StringAttr::get(forward.getContext(), "backward of"),
                       forward.getContext());
}

class Differentiator {
public:
  /// `sources` are the values whose gradients are wanted, in `function`.
  Differentiator(func::FuncOp function, ArrayRef<Value> sources)
      : function(function), builder(function.getLoc(), function.getContext()) {
    active.insert(sources.begin(), sources.end());
    for (Operation &op : function.getBody().front())
      if (llvm::any_of(op.getOperands(),
                       [&](Value value) { return active.contains(value); }))
        active.insert(op.result_begin(), op.result_end());
  }

  /// Builds the backward of `root` before the terminator.
  LogicalResult run(Value root) {
    Operation *terminator = function.getBody().front().getTerminator();
    auto forward = llvm::to_vector(llvm::make_pointer_range(
        function.getBody().front().without_terminator()));
    builder.setInsertionPoint(terminator);
    builder.setLoc(backwardOf(root.getLoc()));
    gradients[root] = SeedOp::create(builder, root.getType());
    for (Operation *op : llvm::reverse(forward))
      if (failed(visit(op)))
        return failure();
    return success();
  }

  /// The gradient that arrived at a value, or null.
  Value gradientOf(Value value) const { return gradients.lookup(value); }

private:
  LogicalResult visit(Operation *op) {
    SmallVector<Value> arrived;
    for (Value result : op->getResults())
      arrived.push_back(gradients.lookup(result));
    bool wanted = llvm::any_of(
        op->getOperands(), [&](Value operand) { return isWanted(operand); });
    if (!wanted ||
        llvm::none_of(arrived, [](Value value) { return bool(value); }))
      return success();
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!rule)
      return op->emitOpError()
             << "has no gradient: it is no op of the mp dialect";
    if (rule.stopsGradient())
      return success();
    if (StringRef why = rule.whyNotDifferentiable(); !why.empty())
      return op->emitOpError() << "has no gradient: " << why;
    if (auto random = dyn_cast<RandomOpInterface>(op);
        random && !random.getStream())
      return op->emitOpError()
             << "has no stream from which backward could draw "
                "again: run mp-number-streams before "
                "mp-autodiff";
    builder.setLoc(backwardOf(op->getLoc()));
    for (auto [operand, gradient] : llvm::zip_equal(
             op->getOperands(), rule.buildGradients(builder, arrived)))
      if (gradient && isWanted(operand))
        accumulate(operand, gradient);
    return success();
  }

  bool isWanted(Value value) const {
    return active.contains(value) && isFloatTensor(value);
  }

  void accumulate(Value operand, Value gradient) {
    Value fitted =
        castTo(builder, sumTo(builder, gradient, tensorType(operand)),
               elementType(operand));
    Value &known = gradients[operand];
    known = known ? Value(AddOp::create(builder, known, fitted)) : fitted;
  }

  func::FuncOp function;
  ImplicitLocOpBuilder builder;
  DenseSet<Value> active;
  DenseMap<Value, Value> gradients;
};

/// Drops ops that nothing uses: rules build adjoints that nobody wanted.
void eraseDead(func::FuncOp function) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

struct Autodiff : mp::impl::AutodiffBase<Autodiff> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
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
  /// Adjoints are built for straight-line code; sums over a batch need its
  /// size.
  static LogicalResult checkBody(func::FuncOp source) {
    if (!source.getBody().hasOneBlock())
      return source.emitOpError() << "must have one block to be differentiated";
    WalkResult walked = source.walk([](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto tensor = dyn_cast<RankedTensorType>(operand.getType());
            tensor && !tensor.hasStaticShape()) {
          op->emitOpError()
              << tensor << " has a '?': run mp-specialize before mp-autodiff";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  FailureOr<func::FuncOp> clone(func::FuncOp source, StringRef name,
                                SymbolTable &symbols) {
    if (Operation *other = symbols.lookup(name)) {
      auto diagnostic = source.emitOpError() << "is to be differentiated as @"
                                             << name << ", which exists";
      diagnostic.attachNote(other->getLoc()) << "here";
      return diagnostic;
    }
    if (failed(checkBody(source)))
      return failure();
    func::FuncOp copy = source.clone();
    copy.setName(name);
    copy.setPublic();
    symbols.insert(copy, std::next(source->getIterator()));
    return copy;
  }

  /// `@f.gradient`: the float arguments' gradients of result 0.
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
    Differentiator differentiator(*copy, sources);
    if (failed(differentiator.run(terminator->getOperand(0))))
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
    // Without the recipe nobody calls it any more.
    source.setPrivate();

    auto reads = readsByVariable(*step, *assignment);
    SmallVector<Value> sources;
    for (auto &[name, values] : reads)
      llvm::append_range(sources, values);
    Differentiator differentiator(*step, sources);
    auto minimize = *recipe.getBody().getOps<MinimizeOp>().begin();
    if (failed(differentiator.run(
            step->getBody().front().getTerminator()->getOperand(
                minimize.getResult()))))
      return failure();
    if (!returnGradients(*step, reads, differentiator))
      return recipe.emitOpError()
             << "has nothing to train: no parameter reaches result "
             << minimize.getResult() << " of @" << recipe.getFunction();
    eraseDead(*step);
    return success();
  }

  using Reads = llvm::MapVector<StringAttr, SmallVector<Value>>;

  static Reads readsByVariable(func::FuncOp step,
                               const ParameterAssignment &assignment) {
    Reads reads;
    for (auto read : step.getBody().getOps<ReadOp>())
      if (StringAttr name = read.getVariableAttr().getAttr();
          assignment.contains(name))
        reads[name].push_back(read.getResult());
    return reads;
  }

  /// Whether there is any gradient; a parameter without one is worth a warning.
  static bool returnGradients(func::FuncOp step, const Reads &reads,
                              Differentiator &differentiator) {
    ImplicitLocOpBuilder builder(step.getLoc(),
                                 step.getBody().front().getTerminator());
    bool any = false;
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
      appendResult(
          step, gradient,
          builder.getNamedAttr(kGradientAttr, FlatSymbolRefAttr::get(name)));
      any = true;
    }
    return any;
  }
};
} // namespace
