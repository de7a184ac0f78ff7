//===- Scaling.cpp - loss scaling -----------------------------------------===//
//
// The semantics of torch.amp.GradScaler (torch/amp/grad_scaler.py and its
// kernels).
//
//===----------------------------------------------------------------------===//
#include "dialect/Mp.h"

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
  Value bad = NotOp::create(b, IsFiniteOp::create(b, operands[0]));
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

LogicalResult UpdateScaleOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getScale().getType());
  types.push_back(adaptor.getGrowthTracker().getType());
  return success();
}
SmallVector<Value> UpdateScaleOp::buildScalars(ImplicitLocOpBuilder &b,
                                               ValueRange x) {
  Value scale = x[0], tracker = x[1], foundInf = x[2];
  auto times = [&](const APFloat &factor) -> Value {
    Value wide = arith::ExtFOp::create(b, b.getF64Type(), scale);
    Value product = arith::MulFOp::create(
        b, wide,
        arith::ConstantOp::create(b,
                                  b.getF64FloatAttr(factor.convertToDouble())));
    return arith::TruncFOp::create(b, b.getF32Type(), product);
  };
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value one = arith::ConstantOp::create(b, b.getI32IntegerAttr(1));
  Value interval =
      arith::ConstantOp::create(b, b.getI32IntegerAttr(getGrowthInterval()));
  Value clean = arith::AddIOp::create(b, tracker, one);
  // "At least" rather than "equal": a checkpoint may hold a tracker beyond a
  // growth_interval that was lowered since.
  Value due =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, clean, interval);

  Value grown = times(getGrowthFactor());
  Value infinity = arith::ConstantOp::create(
      b,
      b.getFloatAttr(b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle())));
  Value fits =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, grown, infinity);
  Value grows = arith::AndIOp::create(b, due, fits);
  Value kept = arith::SelectOp::create(b, grows, grown, scale);
  Value newScale =
      arith::SelectOp::create(b, foundInf, times(getBackoffFactor()), kept);
  Value counted = arith::SelectOp::create(b, due, zero, clean);
  Value newTracker = arith::SelectOp::create(b, foundInf, zero, counted);
  return {newScale, newTracker};
}
