//===- Decompose.cpp - ops as elementwise ops and reductions --------------===//
#include "passes/Decompose.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace mp;

bool mp::isUnitReshape(ReshapeOp op) {
  auto squeeze = [](RankedTensorType type) {
    return llvm::to_vector(llvm::make_filter_range(
        type.getShape(), [](int64_t dim) { return dim != 1; }));
  };
  return squeeze(op.getInput().getType()) == squeeze(op.getType());
}

/// Floats in their compute type, others as they are.
static Value toCompute(ImplicitLocOpBuilder &b, Value value) {
  Type element = elementType(value);
  return isa<FloatType>(element) ? castTo(b, value, computeType(element))
                                 : value;
}

static void replace(Operation *op, ImplicitLocOpBuilder &b,
                    ValueRange results) {
  for (auto [old, made] : llvm::zip_equal(op->getResults(), results))
    old.replaceAllUsesWith(castTo(b, made, elementType(old)));
  op->erase();
}

static void decompose(DecomposableOpInterface op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(toCompute(b, operand));
  replace(op, b, op.decompose(b, operands));
}

/// A reduction of 16-bit floats accumulates in f32 and rounds once.
static void widen(ReductionOpInterface op) {
  Value input = op->getOperand(0);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value wide = toCompute(b, input);
  if (wide == input)
    return;
  Operation *copy = b.clone(*op);
  copy->setOperand(0, wide);
  (void)inferResultsAgain(copy);
  replace(op, b, copy->getResults());
}

/// reshape(f(x)) -> f(reshape(x)) where f is elementwise and used by nothing
/// else: then f can join the kernel of what follows.
static bool hoist(ReshapeOp op) {
  auto producer = op.getInput().getDefiningOp<ScalarOpInterface>();
  if (!producer || isUnitReshape(op) || producer->getNumResults() != 1 ||
      !producer->hasOneUse())
    return false;
  auto from = op.getInput().getType();
  for (Value operand : producer->getOperands())
    if (auto type = tensorType(operand);
        type.getRank() != 0 && type.getShape() != from.getShape())
      return false;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  IRMapping mapping;
  for (Value operand : producer->getOperands())
    if (auto type = tensorType(operand); type.getRank() != 0)
      mapping.map(operand,
                  ReshapeOp::create(
                      b, op.getType().clone(type.getElementType()), operand));
  b.setLoc(producer->getLoc());
  Operation *copy = b.clone(*producer, mapping);
  copy->getResult(0).setType(op.getType());
  op.getResult().replaceAllUsesWith(copy->getResult(0));
  op.erase();
  producer->erase();
  return true;
}

void mp::decomposeToPrimitives(func::FuncOp function) {
  // A decomposition may hold ops that decompose in turn.
  auto collect = [&] {
    return llvm::to_vector(function.getOps<DecomposableOpInterface>());
  };
  for (auto composites = collect(); !composites.empty(); composites = collect())
    llvm::for_each(composites, decompose);
  // Of a composite's results some may be wanted by nobody.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (auto reduction :
       llvm::to_vector(function.getOps<ReductionOpInterface>()))
    widen(reduction);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto reshape : llvm::to_vector(function.getOps<ReshapeOp>()))
      changed |= hoist(reshape);
  }
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}
