//===- GradientPaths.cpp - where a loss's gradient arrives ----------------===//
#include "passes/analysis/GradientPaths.h"
#include "dialect/ops/Gradient.h"
#include "passes/analysis/Alone.h"

using namespace mlir;
using namespace mp;

bool mp::isGradientSource(Value value) {
  return llvm::any_of(value.getUsers(), llvm::IsaPred<GradientOp>);
}

DenseSet<Value> mp::dependents(ArrayRef<Value> sources, Block &block) {
  DenseSet<Value> found(sources.begin(), sources.end());
  for (Operation &op : block)
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return found.contains(value); }))
      found.insert(op.result_begin(), op.result_end());
  return found;
}

GradientPaths::GradientPaths(func::FuncOp function, Value loss)
    : function(function) {
  reached.insert(loss);
  for (Operation &op : llvm::reverse(function.getBody().front()))
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return reaches(result); }))
      visit(&op);
}

/// Asks the gradient rule on a copy of the op, which is thrown away.
void GradientPaths::visit(Operation *op) {
  if (isa<GradientOp>(op)) {
    // Its expansion is differentiable if all ops before it are.
    for (Value operand : op->getOperands())
      if (isFloatTensor(operand))
        reached.insert(operand);
    return;
  }
  auto facts = dyn_cast<DifferentiableOpInterface>(op);
  if (!facts || facts.stopsGradient() || !facts.whyNotDifferentiable().empty())
    return;
  Alone alone(op, 2);
  SmallVector<Value> arrived;
  for (auto [result, copy] :
       llvm::zip_equal(op->getResults(), alone.copy->getResults()))
    arrived.push_back(
        reaches(result) ? alone.block->addArgument(copy.getType(), op->getLoc())
                        : Value());
  ImplicitLocOpBuilder builder(op->getLoc(), op->getContext());
  builder.setInsertionPointToEnd(alone.block.get());
  auto rule = cast<DifferentiableOpInterface>(alone.copy);
  for (auto [operand, gradient] :
       llvm::zip(op->getOperands(), rule.buildGradients(builder, arrived)))
    if (gradient && isFloatTensor(operand))
      reached.insert(operand);
}

static std::string whyNothingPasses(Operation *op) {
  auto facts = dyn_cast<DifferentiableOpInterface>(op);
  if (facts && !facts.whyNotDifferentiable().empty())
    return facts.whyNotDifferentiable().str();
  for (Value result : op->getResults())
    if (!isFloatTensor(result) && isa<RankedTensorType>(result.getType()))
      return "its result is " + typeName(elementType(result));
  return facts ? "its derivative is zero" : "it is not an op of the mp dialect";
}

/// A gradient that arrives after an op and not before it stops there. If it
/// stops at an integer or a flag, the cut is the op that made that from floats.
SmallVector<GradientPaths::Cut> GradientPaths::cutsBehind(Value value) {
  Block &body = function.getBody().front();
  DenseSet<Value> moved = dependents(value, body);
  llvm::SetVector<Operation *> ops, work;
  for (Operation &op : body)
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return reaches(result); }))
      work.insert(&op);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    for (Value operand : op->getOperands()) {
      if (!moved.contains(operand) || reaches(operand))
        continue;
      if (isFloatTensor(operand))
        ops.insert(op);
      else if (operand.getDefiningOp())
        work.insert(operand.getDefiningOp());
    }
  }
  SmallVector<Cut> cuts;
  for (Operation &op : body)
    if (ops.contains(&op))
      cuts.push_back({&op, whyNothingPasses(&op)});
  return cuts;
}
