//===- LossRules.cpp - rules that losses share ----------------------------===//
#include "dialect/LossRules.h"
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

bool mp::canIgnore(Value labels, int64_t ignored) {
  auto type = dyn_cast<IntegerType>(elementType(labels));
  if (!type)
    return false;
  if (type.isUnsigned())
    return ignored >= 0 && ignored < (int64_t(1) << type.getWidth());
  return llvm::isIntN(type.getWidth(), ignored);
}

Expression mp::reduceLoss(Expression each, LossReduction reduction,
                          Expression divisor) {
  if (reduction == LossReduction::none)
    return each;
  auto dims =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(each).getRank()));
  auto &b = each.builder();
  Expression total = each;
  if (!dims.empty())
    total = {b, SumOp::create(b, Value(each), dims, false)};
  return reduction == LossReduction::sum ? total : total / divisor;
}

Expression mp::elementGradient(Expression gradient, LossReduction reduction,
                               Expression divisor) {
  if (reduction == LossReduction::none || reduction == LossReduction::sum)
    return gradient;
  return gradient / divisor;
}
