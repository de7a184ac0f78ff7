//===- LossScaling.cpp - loss scaling -------------------------------------===//
//
// The semantics are those of torch.amp.GradScaler (torch/amp/grad_scaler.py and
// its kernels). LossScaler.cpp defines how the scale changes.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/LossScaling.h"
#include "dialect/Expression.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Reduction.h"
#include <cmath>

using namespace mlir;
using namespace mp;

SmallVector<Value> SeedOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange) {
  return {arith::ConstantOp::create(
      b, b.getFloatAttr(computeType(elementType(getResult())), 1))};
}

SmallVector<Value> ScaleOp::buildScalars(ImplicitLocOpBuilder &b,
                                         ValueRange x) {
  auto [input, scale] = expressions<2>(b, x);
  Expression factor = scale.toTypeOf(input);
  return {input * factor};
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
  auto [gradient, scale] = expressions<2>(b, operands);
  Expression inverse(b, InverseScaleOp::create(b, Value(scale)));
  Value unscaled = gradient * inverse.to(elementType(gradient));
  // The result is checked, not the gradient: dividing by a small scale may
  // overflow.
  Value bad = NotOp::create(b, IsFiniteOp::create(b, unscaled));
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(bad).getRank()));
  return {unscaled, AnyOp::create(b, bad, all, false)};
}

SmallVector<Value> InverseScaleOp::buildScalars(ImplicitLocOpBuilder &b,
                                                ValueRange x) {
  Expression scale = Expression(b, x[0]).to(b.getF64Type());
  return {(1 / scale).to(b.getF32Type())};
}

LogicalResult ScaleGradientOp::verify() {
  // The factor and its inverse must be normal f32 numbers.
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
/// With any exponent but 0, the gradient is not the derivative, on purpose.
std::vector<OpSample> ScaleGradientOp::sampleInputs() {
  return {
      {{{"tensor<3x5xf64>"}}, "mp.scale_gradient %0 by 0 : tensor<3x5xf64>"}};
}
