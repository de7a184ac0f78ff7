//===- UpdateRules.cpp - rules that optimizer updates share ---------------===//
#include "dialect/UpdateRules.h"
#include "dialect/ops/Adagrad.h"
#include "dialect/ops/Adam.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Sgd.h"
#include <cmath>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

LogicalResult mp::inferUpdate(std::optional<Location> location,
                              ValueRange operands, unsigned tensors,
                              unsigned scalars, SmallVectorImpl<Type> &types) {
  auto state = llvm::to_vector(operands.take_front(tensors));
  llvm::append_range(state, operands.drop_front(tensors + scalars));
  Type type = state.front().getType();
  for (Value tensor : state)
    if (tensor.getType() != type)
      return emitOptionalError(location, "the parameter is ", type,
                               " but its gradient or state is ",
                               tensor.getType());
  types.append(state.size() - 1, type);
  return success();
}

LogicalResult mp::verifySlots(Operation *update,
                              OptimizerAttrInterface optimizer) {
  auto expected = optimizer.getSlots();
  size_t found = update->getNumResults() - 1;
  if (found == expected.size())
    return success();
  auto diagnostic = update->emitOpError()
                    << "has " << found << " slots, expected " << expected.size()
                    << (expected.empty() ? "" : ": ");
  llvm::interleaveComma(expected, diagnostic,
                        [&](const SlotSpec &slot) { diagnostic << slot.name; });
  return diagnostic;
}

bool mp::isSparse(OptimizerAttrInterface optimizer) {
  return llvm::TypeSwitch<Attribute, bool>(optimizer)
      .Case<AdamAttr, AdagradAttr, SgdAttr>(
          [](auto known) { return known.getSparse(); })
      .Default([](Attribute) { return false; });
}

Expression mp::addDecay(Expression gradient, Expression parameter,
                        double decay) {
  return decay == 0 ? gradient : gradient + decay * parameter;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Expression mp::magnitude(ImplicitLocOpBuilder &b, Value x) {
  return {b, castTo(b, AbsOp::create(b, x), b.getF32Type())};
}

Expression mp::unlessNaN(Expression x, Expression other) {
  return select(other == other, x, std::nan(""));
}
Expression mp::whereNotNegative(Expression x, Expression other) {
  return select(other >= 0, x, std::nan(""));
}
Expression mp::largestElement(Expression norm) {
  return withSlack(norm) + kUnderflow;
}

Expression mp::unlessDecayOverflows(Expression bound, Expression norm,
                                    Expression parameter, double decay) {
  if (decay == 0)
    return bound;
  Expression largest = largestElement(norm) + decay * parameter;
  return bound + 0.0 * withSlack(largest);
}
Expression mp::boundKept(Expression learningRate, double decay) {
  return abs(1 - decay * learningRate) + 0x1p-22;
}
