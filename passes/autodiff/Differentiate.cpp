//===- Differentiate.cpp - the backward of a value in a function ----------===//
//
// Reverse mode over SSA walks the ops backwards, asks each for its adjoint, and
// adds the gradients that arrive at a value. Work that every rule would repeat
// is done here, once: a gradient is summed back to its operand's shape and cast
// to its operand's type.
//
//===----------------------------------------------------------------------===//
#include "passes/autodiff/Differentiate.h"
#include "dialect/Adjoint.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Gradient.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/LossScaling.h"
#include "passes/autodiff/LoopGradient.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Differentiator
//===----------------------------------------------------------------------===//

Differentiator::Differentiator(func::FuncOp function, ArrayRef<Value> sources,
                               const GradientOrigins &origins)
    : function(function), origins(origins),
      builder(function.getLoc(), function.getContext()) {
  active.insert(sources.begin(), sources.end());
  for (Operation &op : function.getBody().front())
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return active.contains(value); }))
      active.insert(op.result_begin(), op.result_end());
}

LogicalResult Differentiator::run(Value root, Value seed, Operation *end) {
  return run({{root, seed}}, end);
}

LogicalResult Differentiator::run(ArrayRef<std::pair<Value, Value>> seeds,
                                  Operation *end) {
  SmallVector<Operation *> forward;
  for (Operation &op : function.getBody().front()) {
    if (&op == end)
      break;
    forward.push_back(&op);
  }
  builder.setInsertionPoint(end);
  for (auto [root, seed] : seeds)
    accumulate(root, seed);
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op)))
      return failure();
  return success();
}

namespace {
struct Recorder : OpBuilder::Listener {
  explicit Recorder(function_ref<void(Operation *)> report) : report(report) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    report(op);
  }
  function_ref<void(Operation *)> report;
};
} // namespace

LogicalResult Differentiator::visit(Operation *op) {
  SmallVector<Value> arrived;
  for (Value result : op->getResults())
    arrived.push_back(gradients.lookup(result));
  bool wanted = llvm::any_of(op->getOperands(),
                             [&](Value operand) { return isWanted(operand); });
  if (!wanted ||
      llvm::none_of(arrived, [](Value value) { return bool(value); }))
    return success();
  if (auto loop = dyn_cast<LoopOp>(op))
    return visitLoop(loop, arrived);
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  if (!rule)
    return refuse(op, "it is not an op of the mp dialect");
  if (rule.stopsGradient())
    return success();
  if (StringRef why = rule.whyNotDifferentiable(); !why.empty())
    return refuse(op, why);
  if (auto random = dyn_cast<RandomOpInterface>(op);
      random && !random.getStream())
    return op->emitOpError()
           << "has no stream from which backward could draw again: run "
              "mp-number-streams before mp-autodiff";
  auto report = [&](Operation *built) {
    if (onBuilt)
      onBuilt(built, op);
  };
  Recorder recorder(report);
  builder.setListener(&recorder);
  builder.setLoc(backwardOf(op->getLoc()));
  for (auto [operand, gradient] : llvm::zip_equal(
           op->getOperands(), rule.buildGradients(builder, arrived)))
    if (gradient && isWanted(operand))
      accumulate(operand, gradient);
  builder.setListener(nullptr);
  return success();
}

LogicalResult Differentiator::visitLoop(LoopOp loop, ArrayRef<Value> arrived) {
  builder.setLoc(backwardOf(loop.getLoc()));
  auto wanted = llvm::map_to_vector(
      loop.getOperands(), [&](Value operand) { return isWanted(operand); });
  auto found = differentiateLoop(loop, arrived, wanted, origins, builder);
  if (failed(found))
    return failure();
  for (auto [operand, gradient] : llvm::zip_equal(loop.getOperands(), *found))
    if (gradient && isWanted(operand))
      accumulate(operand, gradient);
  return success();
}

/// An op without a place in a file is explained by the op that it came from.
LogicalResult Differentiator::refuse(Operation *op, StringRef why) const {
  auto diagnostic = op->emitOpError() << "has no gradient: " << why;
  if (auto origin = origins.find(op); origin != origins.end())
    diagnostic.attachNote(origin->second.asked)
        << "it is in the gradient of '" << origin->second.forward
        << "' that is asked for here, and that is differentiated in turn";
  return diagnostic;
}

/// Returns the gradient of slices of one value that lie side by side along a
/// dimension, padded to that value, as their concatenation in its padding; null
/// for others. Zeros are not added, so this is one copy in place of three.
static Value joinSlices(ImplicitLocOpBuilder &builder, Value gradient,
                        Value other) {
  auto first = gradient.getDefiningOp<PadOp>(),
       second = other.getDefiningOp<PadOp>();
  if (!first || !second || first.getInterior() || second.getInterior() ||
      !first.getValue().isZero() || !second.getValue().isZero())
    return {};
  auto apart = llvm::to_vector(llvm::make_filter_range(
      llvm::seq<unsigned>(0, first.getLow().size()), [&](unsigned dim) {
        return first.getLow()[dim] != second.getLow()[dim] ||
               first.getHigh()[dim] != second.getHigh()[dim];
      }));
  if (apart.size() != 1)
    return {};
  unsigned dim = apart.front();
  if (second.getLow()[dim] < first.getLow()[dim])
    std::swap(first, second);
  SmallVector<int64_t> low(first.getLow()), high(first.getHigh());
  if (low[dim] + first.getInput().getType().getDimSize(dim) !=
      second.getLow()[dim])
    return {};
  high[dim] = second.getHigh()[dim];
  SmallVector<Value> inputs = {first.getInput(), second.getInput()};
  Value joined = ConcatOp::create(builder, inputs, dim);
  return builder.createOrFold<PadOp>(joined, low, high, DenseI64ArrayAttr(),
                                     APFloat(0.0));
}

/// Adds the rows of a gather's gradient to what arrived from elsewhere, in one
/// pass; null if `rows` is no such gradient. A table of words that a network
/// also multiplies by is one.
static Value addRows(ImplicitLocOpBuilder &builder, Value rows, Value other) {
  auto scatter = rows.getDefiningOp<ScatterAddOp>();
  if (!scatter || scatter.getBase())
    return {};
  return ScatterAddOp::create(builder, scatter.getUpdates(),
                              scatter.getIndices(), other, scatter.getDim(),
                              IntegerAttr(), scatter.getBatched());
}

static Value addGradients(ImplicitLocOpBuilder &builder, Value known,
                          Value arrived) {
  if (Value joined = joinSlices(builder, known, arrived))
    return joined;
  if (Value sum = addRows(builder, arrived, known))
    return sum;
  if (Value sum = addRows(builder, known, arrived))
    return sum;
  return AddOp::create(builder, known, arrived);
}

void Differentiator::accumulate(Value operand, Value gradient) {
  Value fitted = castTo(builder, sumTo(builder, gradient, tensorType(operand)),
                        elementType(operand));
  Value &known = gradients[operand];
  known = known ? addGradients(builder, known, fitted) : fitted;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult mp::checkDifferentiable(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "must have one block to be differentiated";
  WalkResult walked = function.walk([](Operation *op) {
    // The region reads values that are not its operands, and would be
    // overlooked.
    if (auto region = dyn_cast<AutocastOp>(op)) {
      region.emitOpError() << "is not differentiable: "
                           << region.whyNotDifferentiable();
      return WalkResult::interrupt();
    }
    if (isa<func::CallOp>(op)) {
      op->emitOpError() << "is not differentiable: run mp-inline before "
                           "mp-autodiff";
      return WalkResult::interrupt();
    }
    for (Value operand : op->getOperands())
      if (auto tensor = dyn_cast<RankedTensorType>(operand.getType());
          tensor && !tensor.hasStaticShape()) {
        op->emitOpError() << tensor
                          << " has a '?': run mp-specialize before mp-autodiff";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

static LogicalResult expand(GradientOp op, GradientOrigins &origins) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto sources = llvm::to_vector(op.getSources());
  Differentiator differentiator(function, sources, origins);
  differentiator.onBuilt = [&](Operation *built, Operation *forward) {
    origins.insert({built, {forward->getName(), op.getLoc()}});
  };
  ImplicitLocOpBuilder builder(backwardOf(op.getLoc()), op);
  Value one = splat(builder, op.getNumber().getType(), 1);
  if (failed(differentiator.run(op.getNumber(), one, op)))
    return failure();
  SmallVector<Value> gradients;
  for (auto [index, source] : llvm::enumerate(sources)) {
    gradients.push_back(differentiator.gradientOf(source));
    if (!gradients.back())
      return op.emitOpError() << "the number does not depend on value " << index
                              << ", or no gradient passes from it";
  }
  op.replaceAllUsesWith(gradients);
  op.erase();
  return success();
}

LogicalResult mp::expandGradients(func::FuncOp function,
                                  GradientOrigins &origins) {
  for (auto op : llvm::to_vector(function.getOps<GradientOp>()))
    if (failed(expand(op, origins)))
      return failure();
  return success();
}

void mp::dropScaleGradients(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getOps<ScaleGradientOp>())) {
    op.replaceAllUsesWith(op.getInput());
    op.erase();
  }
}
