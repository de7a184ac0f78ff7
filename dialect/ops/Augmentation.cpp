//===- Augmentation.cpp - images varied in training -----------------------===//
#include "dialect/ops/Augmentation.h"
#include "dialect/WindowRules.h"

using namespace mlir;
using namespace mp;

LogicalResult AugmentImagesOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  if (failed(checkImages(location, input)))
    return failure();
  for (Value operand : adaptor.getOperands().drop_front())
    if (auto type = tensorType(operand);
        type.getShape() != input.getShape().take_front())
      return emitOptionalError(location,
                               "a number for each image is [batch]: ", type,
                               " for ", input);
  types.push_back(input);
  return success();
}

SmallVector<Value> AugmentImagesOp::buildEvaluation(ImplicitLocOpBuilder &) {
  return {getInput()};
}
