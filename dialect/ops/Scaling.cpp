//===- Scaling.cpp - loss scaling -----------------------------------------===//
//
// The semantics of torch.amp.GradScaler (torch/amp/grad_scaler.py and its
// kernels). How the scale changes is in Scaler.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Scaling.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include <cmath>

using namespace mlir;
using namespace mp;

SmallVector<Value> SeedOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange) {
  return {arith::ConstantOp::create(
      b, b.getFloatAttr(computeType(elementType(getResult())), 1))};
}

LogicalResult ScaleOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
SmallVector<Value> ScaleOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange x) {
  Value scale = x[1];
  if (x[0].getType() != scale.getType())
    scale = arith::ExtFOp::create(b, x[0].getType(), scale);
  return {arith::MulFOp::create(b, x[0], scale)};
}
SmallVector<Value> ScaleOp::buildGradients(ImplicitLocOpBuilder &b,
                                           ValueRange g) {
  return {ScaleOp::create(b, g[0], getScale()), Value()};
}
std::vector<OpSample> ScaleOp::sampleInputs() {
  return {{{{"tensor<3x5xf64>"}, {"tensor<f32>"}},
           "mp.scale %0, %1 : tensor<3x5xf64>, tensor<f32>"}};
}

LogicalResult
UnscaleAndCheckOp::inferReturnTypes(MLIRContext *context,
                                    std::optional<Location>, Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  auto type = tensorType(adaptor.getGradient());
  types.push_back(type.clone(computeType(type.getElementType())));
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 1)));
  return success();
}
SmallVector<Value> UnscaleAndCheckOp::decompose(ImplicitLocOpBuilder &b,
                                                ValueRange operands) {
  Value inverse = castTo(b, InverseScaleOp::create(b, operands[1]),
                         elementType(operands[0]));
  Value unscaled = MulOp::create(b, operands[0], inverse);
  // Not of the gradient as it arrived: over a small scale it may overflow.
  Value bad = NotOp::create(b, IsFiniteOp::create(b, unscaled));
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(bad).getRank()));
  return {unscaled, AnyOp::create(b, bad, all, false)};
}

LogicalResult InverseScaleOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getScale().getType());
  return success();
}
SmallVector<Value> InverseScaleOp::buildScalars(ImplicitLocOpBuilder &b,
                                                ValueRange x) {
  Value wide = arith::ExtFOp::create(b, b.getF64Type(), x[0]);
  Value one = arith::ConstantOp::create(b, b.getF64FloatAttr(1));
  return {arith::TruncFOp::create(b, b.getF32Type(),
                                  arith::DivFOp::create(b, one, wide))};
}

LogicalResult ScaleGradientOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
LogicalResult ScaleGradientOp::verify() {
  // So that the factor and its inverse are normal numbers of f32.
  auto exponent = static_cast<int64_t>(getExponent());
  if (exponent < -126 || exponent > 126)
    return emitOpError() << "the exponent is " << exponent
                         << ", expected -126 to 126";
  return success();
}
SmallVector<Value> ScaleGradientOp::buildScalars(ImplicitLocOpBuilder &,
                                                 ValueRange x) {
  return {x[0]};
}
SmallVector<Value> ScaleGradientOp::buildGradients(ImplicitLocOpBuilder &b,
                                                   ValueRange g) {
  auto number = RankedTensorType::get({}, b.getF32Type());
  return {ScaleOp::create(b, g[0],
                          splat(b, number, std::ldexp(1.0, getExponent())))};
}
/// With another exponent the gradient is not the derivative.
std::vector<OpSample> ScaleGradientOp::sampleInputs() {
  return {
      {{{"tensor<3x5xf64>"}}, "mp.scale_gradient %0 by 0 : tensor<3x5xf64>"}};
}
