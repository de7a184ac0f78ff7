//===- CrossEntropyTypes.cpp - what the losses of classes take ------------===//
#include "dialect/LossRules.h"
#include "dialect/ops/CrossEntropy.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// The dimension of the classes, in an op whose type is being inferred. At that
/// point its default may be missing and its property not set.
template <typename Adaptor> static int64_t classDimOf(Adaptor adaptor) {
  IntegerAttr attr = adaptor.getDimAttr();
  if (!attr && adaptor.getAttributes())
    attr = adaptor.getAttributes().template getAs<IntegerAttr>("dim");
  return attr ? attr.getInt() : 1;
}

/// The type of the losses of rows: [N, ...] for scores [N, C, ...].
static RankedTensorType rowsOf(RankedTensorType scores, int64_t dim) {
  SmallVector<int64_t> shape(scores.getShape());
  shape.erase(shape.begin() + dim);
  return scores.clone(shape);
}

namespace {
/// The operands of an op whose type is being inferred.
struct Operands {
  RankedTensorType scores;
  int64_t dim;
  Value labels, weight; ///< `weight` may be null
  std::optional<Location> location;

  LogicalResult check() {
    return success(succeeded(checkScores()) && succeeded(checkLabels()) &&
                   succeeded(checkWeight()));
  }

private:
  LogicalResult checkScores() {
    if (scores.getRank() < 2)
      return emitOptionalError(location,
                               "scores must have two dimensions or more, rows "
                               "and classes: ",
                               scores);
    if (dim < 0 || dim >= scores.getRank())
      return emitOptionalError(location, "dimension ", dim,
                               " of the classes is outside of rank ",
                               scores.getRank());
    if (scores.isDynamicDim(dim))
      return emitOptionalError(location, "dimension ", dim,
                               " of the classes is the batch: ", scores);
    if (scores.getDimSize(dim) == 0)
      return emitOptionalError(location, "there is no class in ", scores);
    return success();
  }
  LogicalResult checkLabels() {
    auto type = tensorType(labels);
    if (isFloatTensor(labels))
      return type == scores
                 ? success()
                 : emitOptionalError(location, "probabilities ", type,
                                     " are not of the scores' "
                                     "type: ",
                                     scores);
    if (type.getShape() == rowsOf(scores, dim).getShape())
      return success();
    int64_t last = scores.getRank() - 1;
    std::string advice;
    if (type.getShape() == scores.getShape().drop_back())
      advice = ": write dim(" + std::to_string(last) + ")";
    return emitOptionalError(location, "labels ", type,
                             " do not have the scores' rows: ", scores,
                             " with the classes in dimension ", dim, advice);
  }
  LogicalResult checkWeight() {
    auto wanted = scores.clone({scores.getDimSize(dim)});
    if (!weight || weight.getType() == wanted)
      return success();
    return emitOptionalError(location, "weight ", weight.getType(),
                             " is not one number for each class: ", wanted);
  }
};
} // namespace

/// Infers the type of a loss.
template <typename Adaptor>
static LogicalResult inferLoss(Adaptor adaptor, Value scores,
                               std::optional<Location> location,
                               SmallVectorImpl<Type> &types) {
  Operands operands{tensorType(scores), classDimOf(adaptor),
                    adaptor.getLabels(), adaptor.getWeight(), location};
  if (failed(operands.check()))
    return failure();
  types.push_back(
      lossType(rowsOf(operands.scores, operands.dim), reductionOf(adaptor)));
  return success();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  return inferLoss(adaptor, adaptor.getLogits(), location, types);
}
LogicalResult CrossEntropyBackwardOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  SmallVector<Type> loss;
  auto scores = tensorType(adaptor.getLogits());
  if (failed(inferLoss(adaptor, adaptor.getLogits(), location, loss)) ||
      failed(checkLossGradient(location, adaptor.getGradient(),
                               rowsOf(scores, classDimOf(adaptor)),
                               reductionOf(adaptor))))
    return failure();
  types.push_back(scores);
  return success();
}
LogicalResult NllLossOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferLoss(adaptor, adaptor.getInput(), location, types);
}
LogicalResult AccuracyOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Operands operands{tensorType(adaptor.getLogits()), classDimOf(adaptor),
                    adaptor.getLabels(), Value(), location};
  if (failed(operands.check()))
    return failure();
  auto rows = rowsOf(operands.scores, operands.dim);
  types.push_back(
      lossType(rows.clone(Float32Type::get(context)), reductionOf(adaptor)));
  return success();
}

template <typename Op> static LogicalResult verifyIgnored(Op op) {
  int64_t ignored = op.getIgnoreIndex();
  if (!llvm::isInt<32>(ignored))
    return op.emitOpError()
           << "ignore_index is " << ignored << ", expected a 32-bit number";
  return checkNoBatchMean(op, op.getReduction());
}
template <typename Op> static LogicalResult verifySmoothed(Op op) {
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1))
    return op.emitOpError()
           << "label_smoothing is " << smoothing << ", expected 0 to 1";
  return verifyIgnored(op);
}
LogicalResult CrossEntropyOp::verify() { return verifySmoothed(*this); }
LogicalResult CrossEntropyBackwardOp::verify() { return verifySmoothed(*this); }
LogicalResult NllLossOp::verify() { return verifyIgnored(*this); }
LogicalResult AccuracyOp::verify() {
  int64_t classes = getLogits().getType().getDimSize(getDim()), k = getTopK();
  if (k < 1 || k > classes)
    return emitOpError() << "top_k is " << k << ", expected 1 to the number of "
                         << "classes, " << classes;
  return checkNoBatchMean(*this, getReduction());
}

//===----------------------------------------------------------------------===//
// Ranges of labels
//===----------------------------------------------------------------------===//

std::optional<IndexRange> CrossEntropyOp::getIndexRange(unsigned operand) {
  if (operand != 1 || isFloatTensor(getLabels()))
    return std::nullopt;
  return IndexRange{0, getLogits().getType().getDimSize(getDim()),
                    static_cast<int64_t>(getIgnoreIndex())};
}

std::optional<IndexRange> NllLossOp::getIndexRange(unsigned operand) {
  if (operand != 1)
    return std::nullopt;
  return IndexRange{0, getInput().getType().getDimSize(getDim()),
                    static_cast<int64_t>(getIgnoreIndex())};
}

std::optional<IndexRange> AccuracyOp::getIndexRange(unsigned) {
  return std::nullopt;
}
