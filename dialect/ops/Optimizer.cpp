//===- Optimizer.cpp - ops that several optimizers share ------------------===//
#include "dialect/ops/Optimizer.h"
#include "dialect/UpdateRules.h"

using namespace mlir;
using namespace mp;

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
  Expression step = Expression(b, x[0]).to(b.getF64Type());
  return {(1 - pow(toDouble(getBeta()), step)).to(b.getF32Type())};
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
  auto [average, value, step] = expressions<3>(b, x);
  double decay = toDouble(getDecay());
  Expression moved = decay * average + (1 - decay) * value;
  return {select(step == 1, value, moved)};
}

//===----------------------------------------------------------------------===//
// clip_factor
//===----------------------------------------------------------------------===//

Scalars ClipFactorOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Expression norm(b, x[0]), wanted = norm.number(toDouble(getMaxNorm()));
  return {min(wanted / (norm + 1e-6), 1)};
}
