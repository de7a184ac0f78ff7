//===- LossRules.cpp - what losses share ----------------------------------===//
#include "dialect/LossRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"

using namespace mlir;
using namespace mp;

RankedTensorType mp::lossType(RankedTensorType each, LossReduction reduction) {
  return reduction == LossReduction::none ? each
                                          : each.clone(ArrayRef<int64_t>());
}

LogicalResult mp::checkLossGradient(std::optional<Location> location,
                                    Value gradient, RankedTensorType each,
                                    LossReduction reduction) {
  RankedTensorType loss = lossType(each, reduction);
  if (gradient.getType() == loss)
    return success();
  return emitOptionalError(location, "gradient ", gradient.getType(),
                           " is not of the loss's type: ", loss);
}

LogicalResult mp::checkNoBatchMean(Operation *op, LossReduction reduction) {
  if (reduction == LossReduction::batchmean)
    return op->emitOpError()
           << "has no reduction(batchmean), which is mp.kl_div's: expected "
              "mean, sum or none";
  return success();
}

Value mp::reduceLoss(ImplicitLocOpBuilder &b, Value each,
                     LossReduction reduction, Value divisor) {
  if (reduction == LossReduction::none)
    return each;
  auto dims =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(each).getRank()));
  Value total =
      dims.empty() ? each : Value(SumOp::create(b, each, dims, false));
  return reduction == LossReduction::sum
             ? total
             : Value(DivOp::create(b, total, divisor));
}

Value mp::elementGradient(ImplicitLocOpBuilder &b, Value gradient,
                          LossReduction reduction, Value divisor) {
  if (reduction == LossReduction::none || reduction == LossReduction::sum)
    return gradient;
  return DivOp::create(b, gradient, divisor);
}

Value mp::numberLike(ImplicitLocOpBuilder &b, Value like, double value) {
  return splat(b, RankedTensorType::get({}, elementType(like)), value);
}
