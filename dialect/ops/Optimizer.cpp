//===- Optimizer.cpp - what several optimizers compute --------------------===//
#include "dialect/ops/Optimizer.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

using Scalars = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// bias_correction
//===----------------------------------------------------------------------===//

LogicalResult BiasCorrectionOp::inferReturnTypes(MLIRContext *context,
                                                 std::optional<Location>,
                                                 Adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, Float32Type::get(context)));
  return success();
}

Scalars BiasCorrectionOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Type f64 = b.getF64Type();
  Value step = arith::SIToFPOp::create(b, f64, x[0]);
  Value power =
      math::PowFOp::create(b, number(b, f64, toDouble(getBeta())), step);
  return {arith::TruncFOp::create(b, b.getF32Type(),
                                  sub(b, number(b, f64, 1), power))};
}

//===----------------------------------------------------------------------===//
// ema
//===----------------------------------------------------------------------===//

LogicalResult EmaOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Type average = adaptor.getAverage().getType(),
       value = adaptor.getValue().getType();
  if (average != value)
    return emitOptionalError(location, "the average is ", average,
                             " but the value is ", value);
  types.push_back(average);
  return success();
}

Scalars EmaOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  double decay = toDouble(getDecay());
  Value moved = add(b, mul(b, number(b, x[0], decay), x[0]),
                    mul(b, number(b, x[1], 1 - decay), x[1]));
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x[2], one);
  return {arith::SelectOp::create(b, isFirst, x[1], moved)};
}

//===----------------------------------------------------------------------===//
// clip_factor
//===----------------------------------------------------------------------===//

LogicalResult ClipFactorOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getNorm().getType());
  return success();
}

Scalars ClipFactorOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value wanted = number(b, x[0], toDouble(getMaxNorm()));
  Value factor = div(b, wanted, add(b, x[0], number(b, x[0], 1e-6)));
  return {arith::MinimumFOp::create(b, factor, number(b, x[0], 1))};
}
