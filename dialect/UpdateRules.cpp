//===- UpdateRules.cpp - what the updates of all optimizers share ---------===//
#include "dialect/UpdateRules.h"
#include <cmath>

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

LogicalResult mp::inferUpdate(std::optional<Location> location,
                              ValueRange tensors, unsigned results,
                              SmallVectorImpl<Type> &types) {
  Type type = tensors.front().getType();
  for (Value tensor : tensors)
    if (tensor.getType() != type)
      return emitOptionalError(location, "the parameter is ", type,
                               " but its gradient or state is ",
                               tensor.getType());
  types.append(results, type);
  return success();
}

Value mp::addDecay(ImplicitLocOpBuilder &b, Value gradient, Value parameter,
                   double decay) {
  if (decay == 0)
    return gradient;
  return add(b, gradient, mul(b, number(b, parameter, decay), parameter));
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Value mp::magnitude(ImplicitLocOpBuilder &b, Value x) {
  return castTo(b, AbsOp::create(b, x), b.getF32Type());
}

Value Formula::unlessNaN(Value x, Value other) {
  Value isNumber = CompareOp::create(b, Comparison::eq, other, other);
  return SelectOp::create(b, isNumber, x, number(std::nan("")));
}
Value Formula::whereNotNegative(Value x, Value other) {
  Value zero = splat(b, RankedTensorType::get({}, elementType(other)), 0);
  Value isNot = CompareOp::create(b, Comparison::ge, other, zero);
  return SelectOp::create(b, isNot, x, number(std::nan("")));
}
