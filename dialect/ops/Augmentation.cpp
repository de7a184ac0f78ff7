//===- Augmentation.cpp - images varied in training -----------------------===//
#include "dialect/ops/Augmentation.h"
#include "dialect/PoolingRules.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// in_training
//===----------------------------------------------------------------------===//

LogicalResult InTrainingOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  Type trained = adaptor.getTrained().getType(),
       evaluated = adaptor.getEvaluated().getType();
  if (trained != evaluated)
    return emitOptionalError(
        location, "types in training and in evaluation differ: ", trained,
        " vs ", evaluated);
  types.push_back(trained);
  return success();
}

SmallVector<Value> InTrainingOp::buildScalars(ImplicitLocOpBuilder &,
                                              ValueRange x) {
  return {x[0]};
}

/// A function that is differentiated trains.
SmallVector<Value> InTrainingOp::buildGradients(ImplicitLocOpBuilder &,
                                                ValueRange g) {
  return {g[0], Value()};
}
std::vector<OpSample> InTrainingOp::sampleInputs() {
  OperandSample evaluated{"tensor<3x5xf64>"};
  evaluated.flat = true;
  return {{{{"tensor<3x5xf64>"}, evaluated},
           "mp.in_training %0, %1 : tensor<3x5xf64>, tensor<3x5xf64>"}};
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// Fails unless operands after the images are [batch].
static LogicalResult checkNumbers(std::optional<Location> location,
                                  RankedTensorType images, ValueRange numbers) {
  for (Value operand : numbers)
    if (auto type = tensorType(operand);
        type.getShape() != images.getShape().take_front())
      return emitOptionalError(location,
                               "a number for each image is [batch]: ", type,
                               " for ", images);
  return success();
}

LogicalResult AugmentImagesOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  if (failed(checkImages(location, input)) ||
      failed(checkNumbers(location, input, adaptor.getOperands().drop_front())))
    return failure();
  types.push_back(input);
  return success();
}

SmallVector<Value> AugmentImagesOp::buildEvaluation(ImplicitLocOpBuilder &) {
  return {getInput()};
}

LogicalResult CropResizeOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  if (failed(checkImages(location, input)) ||
      failed(
          checkNumbers(location, input, adaptor.getOperands().drop_front())) ||
      failed(checkSize(location, "size", adaptor.getSize())))
    return failure();
  types.push_back(resized(input, adaptor.getSize()));
  return success();
}

Value CropResizeOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  return withoutImageLoop(b, *this);
}

// What lies between pixels is bounded as one term is.
std::optional<int64_t> CropResizeOp::getTermCount() { return 1; }
