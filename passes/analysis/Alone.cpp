//===- Alone.cpp - an op apart from its function --------------------------===//
#include "passes/analysis/Alone.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mp;

/// Returns the type with its `?` bound.
static Type bind(Type type, int64_t batch) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = batch;
  return tensor.clone(shape);
}

Alone::Alone(Operation *op, int64_t batch) : block(std::make_unique<Block>()) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value &argument = arguments[operand];
    if (!argument)
      argument =
          block->addArgument(bind(operand.getType(), batch), operand.getLoc());
    mapping.map(operand, argument);
  }
  copy = op->clone(mapping);
  block->push_back(copy);
  for (Value result : copy->getResults())
    result.setType(bind(result.getType(), batch));
  auto random = dyn_cast<RandomOpInterface>(copy);
  if (!random)
    return;
  if (!random.getStream())
    random.setStream(0);
  SmallVector<Value> step(random.getKeyMutable().getAsOperandRange());
  if (step.size() < 2) {
    auto count =
        RankedTensorType::get({}, IntegerType::get(op->getContext(), 64));
    SmallVector<Value> key;
    for (size_t i = 0; i < 2 + step.size(); ++i)
      key.push_back(block->addArgument(count, op->getLoc()));
    llvm::append_range(key, step);
    random.getKeyMutable().assign(key);
  }
}

ImplicitLocOpBuilder Alone::builder() {
  return ImplicitLocOpBuilder(copy->getLoc(), copy);
}
