//===- Decompose.cpp - ops as elementwise ops and reductions --------------===//
#include "passes/kernels/Decompose.h"
#include "dialect/Expression.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "passes/analysis/Composites.h"

using namespace mlir;
using namespace mp;

bool mp::isUnitReshape(ReshapeOp op) {
  auto squeeze = [](RankedTensorType type) {
    return llvm::to_vector(llvm::make_filter_range(
        type.getShape(), [](int64_t dim) { return dim != 1; }));
  };
  return squeeze(op.getInput().getType()) == squeeze(op.getType());
}

/// A reduction of 16-bit floats accumulates in f32 and rounds once.
static void accumulateInComputeType(ReductionOpInterface op) {
  Value input = op->getOperand(0);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value wide = Expression(b, input).wide();
  if (wide == input)
    return;
  Operation *copy = b.clone(*op);
  copy->setOperand(0, wide);
  (void)inferResultsAgain(copy);
  replaceByWide(op, b, copy->getResults());
}

/// reshape(f(x)) -> f(reshape(x)) where f is elementwise and used by nothing
/// else, or a cast that only such reshapes use: then f can join the kernel of
/// what follows. Reshapes that go are added to `erased`.
static bool hoist(ReshapeOp op, DenseSet<Operation *> &erased) {
  auto producer = op.getInput().getDefiningOp<ScalarOpInterface>();
  if (!producer || isUnitReshape(op) || producer->getNumResults() != 1)
    return false;
  auto isAlike = [&](Operation *user) {
    auto reshape = dyn_cast<ReshapeOp>(user);
    return reshape && reshape.getType() == op.getType();
  };
  if (!producer->hasOneUse() &&
      !(isa<CastOp>(producer) && llvm::all_of(producer->getUsers(), isAlike)))
    return false;
  auto from = op.getInput().getType();
  for (Value operand : producer->getOperands())
    if (auto type = tensorType(operand);
        type.getRank() != 0 && type.getShape() != from.getShape())
      return false;
  RankedTensorType to = op.getType();
  ImplicitLocOpBuilder b(op.getLoc(), producer);
  IRMapping mapping;
  for (Value operand : producer->getOperands())
    if (auto type = tensorType(operand); type.getRank() != 0)
      mapping.map(operand, b.createOrFold<ReshapeOp>(
                               to.clone(type.getElementType()), operand));
  b.setLoc(producer->getLoc());
  Operation *copy = b.clone(*producer, mapping);
  copy->getResult(0).setType(to);
  for (Operation *user : llvm::make_early_inc_range(producer->getUsers())) {
    user->getResult(0).replaceAllUsesWith(copy->getResult(0));
    erased.insert(user);
    user->erase();
  }
  producer->erase();
  return true;
}

/// The last come first, so that one that undoes an earlier one meets it.
static void hoistReshapes(func::FuncOp function) {
  for (bool changed = true; changed;) {
    changed = false;
    DenseSet<Operation *> erased;
    auto all = llvm::to_vector(function.getOps<ReshapeOp>());
    for (ReshapeOp reshape : llvm::reverse(all)) {
      if (erased.contains(reshape))
        continue;
      if (reshape.use_empty())
        reshape.erase();
      else
        changed |= hoist(reshape, erased);
    }
  }
}

static bool isEmpty(Value value) {
  return llvm::is_contained(tensorType(value).getShape(), 0);
}

/// The value that a reduction starts at; a sum's is -0.0, which no sum is.
static Attribute resultOfNothing(ReductionOpInterface op,
                                 RankedTensorType type) {
  Type element = type.getElementType();
  TypedAttr neutral = op.getNeutral(element);
  auto number = dyn_cast<FloatAttr>(neutral);
  return number && number.getValue().isZero() ? FloatAttr::get(element, 0)
                                              : Attribute(neutral);
}

/// What an op gives that has nothing to compute from: no elements, or the value
/// that a reduction starts at. Null where that is for the op to say.
static Value withoutElements(ImplicitLocOpBuilder &b, Operation *op,
                             Value result) {
  auto type = tensorType(result);
  if (isEmpty(result))
    return ConstantOp::create(b, cast<ElementsAttr>(DenseElementsAttr::get(
                                     type, ArrayRef<Attribute>())));
  if (llvm::none_of(op->getOperands(), isEmpty))
    return {};
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return ConstantOp::create(b, cast<ElementsAttr>(DenseElementsAttr::get(
                                     type, resultOfNothing(reduction, type))));
  return {};
}

/// Anchors whose operands no main loop takes.
static void replaceAnchors(func::FuncOp function) {
  for (auto anchor : llvm::to_vector(function.getOps<AnchorOpInterface>())) {
    ImplicitLocOpBuilder b(anchor.getLoc(), anchor);
    if (Value made = anchor.buildWithoutLoop(b)) {
      anchor->getResult(0).replaceAllUsesWith(made);
      anchor->erase();
    }
  }
}

/// Also of no elements, which are all the same.
static bool isSplat(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  return elements && elements.isSplat();
}

/// No kernel has a tensor without elements: loops would need a size.
static void replaceEmpty(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(
           function.getBody().front().without_terminator())) {
    auto constant = dyn_cast<ConstantOp>(op);
    if (op.getNumResults() == 0 || isa<ReadOp>(op) ||
        (constant && !isSplat(constant)))
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), &op);
    for (Value result : op.getResults())
      if (Value made = withoutElements(b, &op, result))
        result.replaceAllUsesWith(made);
    if (isOpTriviallyDead(&op))
      op.erase();
  }
}

void mp::decomposeToPrimitives(func::FuncOp function) {
  // A decomposition may hold ops that decompose in turn.
  auto collect = [&] {
    return llvm::to_vector(function.getOps<DecomposableOpInterface>());
  };
  for (auto composites = collect(); !composites.empty(); composites = collect())
    llvm::for_each(composites, decomposeInPlace);
  // Some results of a composite may have no use.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (auto reduction :
       llvm::to_vector(function.getOps<ReductionOpInterface>()))
    accumulateInComputeType(reduction);
  replaceAnchors(function);
  replaceEmpty(function);
  hoistReshapes(function);
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}
