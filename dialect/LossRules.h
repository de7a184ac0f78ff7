//===- LossRules.h - what losses share ------------------------------------===//
#ifndef MP_DIALECT_LOSSRULES_H
#define MP_DIALECT_LOSSRULES_H

#include "dialect/Expression.h"

namespace mp {

/// The reduction of an op whose type is being inferred: its default is not yet
/// filled in then, and what stands among other attributes not sorted in.
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

/// Fails where `gradient` is not of the type of such a loss.
llvm::LogicalResult checkLossGradient(std::optional<mlir::Location> location,
                                      mlir::Value gradient,
                                      mlir::RankedTensorType each,
                                      LossReduction reduction);

/// Fails where the op has no such reduction.
llvm::LogicalResult checkNoBatchMean(mlir::Operation *op,
                                     LossReduction reduction);

/// The loss from its elements; a mean divides by `divisor`, rank 0.
Expression reduceLoss(Expression each, LossReduction reduction,
                      Expression divisor);

/// What reaches each element, or all alike, from the gradient of the loss.
Expression elementGradient(Expression gradient, LossReduction reduction,
                           Expression divisor);

} // namespace mp

#endif // MP_DIALECT_LOSSRULES_H
