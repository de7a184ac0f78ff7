//===- LossRules.h - rules that losses share ------------------------------===//
#ifndef MP_DIALECT_LOSSRULES_H
#define MP_DIALECT_LOSSRULES_H

#include "dialect/Expression.h"

namespace mp {

/// The reduction of an op whose type is being inferred. At that point its
/// default may be missing and its property not set.
template <typename Adaptor> LossReduction reductionOf(Adaptor adaptor) {
  LossReductionAttr attr = adaptor.getReductionAttr();
  if (!attr && adaptor.getAttributes())
    attr =
        adaptor.getAttributes().template getAs<LossReductionAttr>("reduction");
  return attr ? attr.getValue() : LossReduction::mean;
}

/// Type of a loss whose elements have type `each`.
mlir::RankedTensorType lossType(mlir::RankedTensorType each,
                                LossReduction reduction);

/// Fails unless `gradient` has the type of such a loss.
llvm::LogicalResult checkLossGradient(std::optional<mlir::Location> location,
                                      mlir::Value gradient,
                                      mlir::RankedTensorType each,
                                      LossReduction reduction);

/// Fails for `batchmean`, which the op does not support.
llvm::LogicalResult checkNoBatchMean(mlir::Operation *op,
                                     LossReduction reduction);

/// Whether labels of this type can equal `ignored`; otherwise no mask is built.
bool canIgnore(mlir::Value labels, int64_t ignored);

/// Reduces the losses of elements; a mean divides by `divisor`, rank 0.
Expression reduceLoss(Expression each, LossReduction reduction,
                      Expression divisor);

/// The gradient of each element, or one for all, from the gradient of the loss.
Expression elementGradient(Expression gradient, LossReduction reduction,
                           Expression divisor);

} // namespace mp

#endif // MP_DIALECT_LOSSRULES_H
