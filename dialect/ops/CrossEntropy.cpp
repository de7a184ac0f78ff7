//===- CrossEntropy.cpp - losses and scores of classes --------------------===//
#include "dialect/ops/CrossEntropy.h"
#include "dialect/Accuracy.h"
#include "dialect/Adjoint.h"
#include "dialect/LossRules.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/Softmax.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

static bool areProbabilities(Value labels) { return isFloatTensor(labels); }

/// The type of the losses of rows: [N, ...] for `scores` [N, C, ...].
static RankedTensorType rowsOf(RankedTensorType scores) {
  SmallVector<int64_t> shape(scores.getShape());
  shape.erase(shape.begin() + 1);
  return scores.clone(shape);
}

static LogicalResult checkScores(std::optional<Location> location,
                                 RankedTensorType scores) {
  if (scores.getRank() < 2)
    return emitOptionalError(
        location,
        "scores must have two dimensions or more, rows and classes: ", scores);
  if (scores.getDimSize(1) == 0)
    return emitOptionalError(location, "there is no class in ", scores);
  return success();
}
static LogicalResult checkLabels(std::optional<Location> location,
                                 RankedTensorType scores, Value labels) {
  auto type = tensorType(labels);
  if (areProbabilities(labels))
    return type == scores
               ? success()
               : emitOptionalError(location, "probabilities ", type,
                                   " are not of the scores' type: ", scores);
  if (type.getShape() != rowsOf(scores).getShape())
    return emitOptionalError(location, "labels ", type,
                             " do not have the scores' rows: ", scores);
  return success();
}
static LogicalResult checkWeight(std::optional<Location> location,
                                 RankedTensorType scores, Value weight) {
  auto wanted = scores.clone({scores.getDimSize(1)});
  if (!weight || weight.getType() == wanted)
    return success();
  return emitOptionalError(location, "weight ", weight.getType(),
                           " is not one number for each class: ", wanted);
}
/// Checks `scores` [N, C, ...], `labels` [N, ...] or probabilities, `weight`
/// [C].
static LogicalResult checkRows(std::optional<Location> location,
                               RankedTensorType scores, Value labels,
                               Value weight) {
  return success(succeeded(checkScores(location, scores)) &&
                 succeeded(checkLabels(location, scores, labels)) &&
                 succeeded(checkWeight(location, scores, weight)));
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto scores = tensorType(adaptor.getLogits());
  if (failed(checkRows(location, scores, adaptor.getLabels(),
                       adaptor.getWeight())))
    return failure();
  types.push_back(lossType(rowsOf(scores), reductionOf(adaptor)));
  return success();
}
LogicalResult CrossEntropyBackwardOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto scores = tensorType(adaptor.getLogits());
  if (failed(checkRows(location, scores, adaptor.getLabels(),
                       adaptor.getWeight())) ||
      failed(checkLossGradient(location, adaptor.getGradient(), rowsOf(scores),
                               reductionOf(adaptor))))
    return failure();
  types.push_back(scores);
  return success();
}
LogicalResult NllLossOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto scores = tensorType(adaptor.getInput());
  if (failed(checkRows(location, scores, adaptor.getLabels(),
                       adaptor.getWeight())))
    return failure();
  types.push_back(lossType(rowsOf(scores), reductionOf(adaptor)));
  return success();
}
LogicalResult AccuracyOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto scores = tensorType(adaptor.getLogits());
  if (scores.getRank() > 2)
    return emitOptionalError(
        location,
        "scores must have two dimensions, rows and classes: ", scores);
  if (failed(checkRows(location, scores, adaptor.getLabels(), Value())))
    return failure();
  types.push_back(RankedTensorType::get({}, Float32Type::get(context)));
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

//===----------------------------------------------------------------------===//
// Building blocks: rows of [N, C, ...] scores as [N, 1, ...] columns
//===----------------------------------------------------------------------===//

/// Whether labels of this type can equal `ignored`; otherwise no mask is built.
static bool canIgnore(Value labels, int64_t ignored) {
  auto type = dyn_cast<IntegerType>(elementType(labels));
  if (!type)
    return false;
  if (type.isUnsigned())
    return ignored >= 0 && ignored < (int64_t(1) << type.getWidth());
  return llvm::isIntN(type.getWidth(), ignored);
}

namespace {
/// The labels and the classes of rows, in a decomposition.
class Rows {
public:
  /// The scores of the rows, and their labels; `weight` may be null.
  Rows(Expression scores, Expression labels, Expression weight)
      : scores(scores), labels(labels), b(scores.builder()),
        type(tensorType(scores)) {
    SmallVector<int64_t> one(type.getShape());
    one[1] = 1;
    column = type.clone(one);
    if (weight)
      classWeight = perClass(weight);
    if (areProbabilities(labels))
      return;
    Type i32 = b.getI32Type();
    Value integers = labels.to(i32);
    label = {b, ReshapeOp::create(b, column.clone(i32), integers)};
    classes = {b, IotaOp::create(b, type.clone(i32), 1)};
  }

  double count() const { return column.getNumElements(); }
  double classCount() const { return type.getDimSize(1); }
  Expression sumClasses(Expression x) { return sumOver(x, {1}); }
  /// Reshapes [C] so that it broadcasts against the scores.
  Expression perClass(Expression weight) {
    if (type.getRank() == 2)
      return weight;
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = type.getDimSize(1);
    return {b, ReshapeOp::create(b, type.clone(shape), Value(weight))};
  }
  /// Multiplies by the weight of the class, if there are weights.
  Expression weighted(Expression x) {
    return classWeight ? x * classWeight : x;
  }
  /// Whether the class is the label, with shape [N, C, ...].
  Expression hit() { return classes == label; }
  /// The label's entry in each row.
  Expression pick(Expression x) { return sumClasses(select(hit(), x, 0)); }
  /// Column `x`, with 0 for rows whose label is `ignored`.
  Expression masked(Expression x, int64_t ignored) {
    return canIgnore(labels, ignored) ? select(label != ignored, x, 0) : x;
  }
  /// The divisor of a mean: the sum of the labels' weights, or the number of
  /// rows that count.
  Expression divisor(int64_t ignored) {
    bool isMasked = canIgnore(labels, ignored);
    if (areProbabilities(labels) || (!classWeight && !isMasked))
      return scores.number(count());
    Value rows = classWeight ? masked(pick(classWeight), ignored)
                             : (label != ignored).to(type.getElementType());
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return {b, SumOp::create(b, rows, dims, false)};
  }
  /// A column as the result of reduction(none).
  Value asRows(Value x) { return ReshapeOp::create(b, rowsOf(type), x); }
  /// A gradient of the result, reshaped to broadcast against the scores.
  Expression asColumn(Expression gradient) {
    if (tensorType(gradient).getRank() == 0)
      return gradient;
    return {b, ReshapeOp::create(b, column, Value(gradient))};
  }

  Expression scores, labels, label, classes, classWeight;

private:
  ImplicitLocOpBuilder &b;
  RankedTensorType type, column;
};

/// The shares of the classes in the loss of a row, in a decomposition. They
/// include the weights; ignored rows have shares too.
class Shares {
public:
  Shares(Rows &rows, double smoothing)
      : rows(rows), kept(1 - smoothing), given(smoothing / rows.classCount()) {}

  /// The sum of the shares times `x`. An infinite `x` counts only if its class
  /// has a share.
  Expression sumOf(Expression x) {
    Expression term = rows.weighted(x);
    if (areProbabilities(rows.labels))
      return rows.sumClasses(shares() * x);
    Expression picked = rows.pick(term);
    if (given == 0)
      return picked;
    Expression even = rows.sumClasses(term) * given;
    return picked * kept + even;
  }
  /// [N, C, ...].
  Expression shares() {
    Expression cold = rows.scores.number(given);
    if (!areProbabilities(rows.labels)) {
      Expression isLabel = rows.hit(), hot = rows.scores.number(kept + given);
      return rows.weighted(select(isLabel, hot, cold));
    }
    Expression share = rows.labels;
    return rows.weighted(given == 0 ? share : share * kept + cold);
  }
  /// Whether only the label has a share, and there are any elements.
  bool areOnlyLabels() const {
    return !areProbabilities(rows.labels) && given == 0 &&
           tensorType(rows.scores).getNumElements() > 0;
  }
  /// Whether the shares of a row sum to one.
  bool areWhole() const {
    return !rows.classWeight && !areProbabilities(rows.labels);
  }

private:
  Rows &rows;
  double kept, given;
};
} // namespace

/// Reduces a column with the losses of the rows.
static SmallVector<Value> reduceRows(Rows &rows, Expression each,
                                     LossReduction reduction, int64_t ignored) {
  each = rows.masked(each, ignored);
  if (reduction == LossReduction::none)
    return {rows.asRows(each)};
  Expression divisor =
      reduction == LossReduction::mean ? rows.divisor(ignored) : Expression();
  return {reduceLoss(each, reduction, divisor)};
}

//===----------------------------------------------------------------------===//
// cross_entropy
//===----------------------------------------------------------------------===//

/// The label's entry of log_softmax, with its weight. It is picked from the
/// scores in the pass that finds the largest: the bits are the same, and no
/// pass computes the log_softmax of the other entries.
static Expression pickedLogSoftmax(Rows &rows, Type loss) {
  Expression x = rows.scores;
  Expression largest = largestOver(x, 1);
  Expression picked = rows.pick(x) - largest;
  Expression total =
      rows.sumClasses(expFor(loss, x - largest, ExpArgument::NotPositive));
  Expression logProb = picked - log(total);
  return rows.classWeight ? logProb * rows.pick(rows.classWeight) : logProb;
}

SmallVector<Value> CrossEntropyOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  auto [logits, labels] = expressions<2>(b, operands);
  Rows rows(logits, labels, {b, getWeight() ? operands[2] : Value()});
  Shares shares(rows, getLabelSmoothing().convertToDouble());
  Expression logProb =
      shares.areOnlyLabels()
          ? pickedLogSoftmax(rows, elementType(getResult()))
          : shares.sumOf({b, LogSoftmaxOp::create(b, operands[0], 1)});
  return reduceRows(rows, -logProb, getReduction(), getIgnoreIndex());
}

/// p sum(s) - s, where p is the softmax and s are the shares.
SmallVector<Value> CrossEntropyBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                     ValueRange operands) {
  auto [gradient, logits, labels] = expressions<3>(b, operands);
  Rows rows(logits, labels, {b, getWeight() ? operands[3] : Value()});
  Shares shares(rows, getLabelSmoothing().convertToDouble());
  // A share of all classes can be nearly that of the softmax, and then the
  // difference needs all its digits.
  Expression prob = softmaxFor(shares.areOnlyLabels() ? elementType(getResult())
                                                      : logits.getType(),
                               logits, 1);
  Expression share = shares.shares();
  if (!shares.areWhole())
    prob = prob * rows.sumClasses(share);
  Expression g = rows.asColumn(gradient);
  if (getReduction() == LossReduction::mean)
    g = g / rows.divisor(getIgnoreIndex());
  g = rows.masked(g, getIgnoreIndex());
  return {(prob - share) * g};
}

SmallVector<Value> CrossEntropyOp::buildGradients(ImplicitLocOpBuilder &b,
                                                  ValueRange g) {
  SmallVector<Value> gradients((*this)->getNumOperands());
  if (getWeight() || areProbabilities(getLabels()))
    gradients = differentiateParts(*this, b, g);
  gradients[0] = CrossEntropyBackwardOp::create(
      b, g[0], getLogits(), getLabels(), getWeight(), getReduction(),
      getIgnoreIndex(), getLabelSmoothing());
  return gradients;
}
SmallVector<Value>
CrossEntropyBackwardOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return differentiateParts(*this, b, g);
}

std::optional<IndexRange> CrossEntropyOp::getIndexRange(unsigned operand) {
  if (operand != 1 || areProbabilities(getLabels()))
    return std::nullopt;
  return IndexRange{0, getLogits().getType().getDimSize(1),
                    static_cast<int64_t>(getIgnoreIndex())};
}

//===----------------------------------------------------------------------===//
// nll_loss
//===----------------------------------------------------------------------===//

SmallVector<Value> NllLossOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  auto [logProb, labels] = expressions<2>(b, operands);
  Rows rows(logProb, labels, {b, getWeight() ? operands[2] : Value()});
  Expression loss = -rows.pick(rows.weighted(logProb));
  return reduceRows(rows, loss, getReduction(), getIgnoreIndex());
}
SmallVector<Value> NllLossOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return differentiateParts(*this, b, g);
}

std::optional<IndexRange> NllLossOp::getIndexRange(unsigned operand) {
  if (operand != 1)
    return std::nullopt;
  return IndexRange{0, getInput().getType().getDimSize(1),
                    static_cast<int64_t>(getIgnoreIndex())};
}

//===----------------------------------------------------------------------===//
// accuracy
//===----------------------------------------------------------------------===//

SmallVector<Value> AccuracyOp::decompose(ImplicitLocOpBuilder &b,
                                         ValueRange operands) {
  auto [scores, labels] = expressions<2>(b, operands);
  Rows rows(scores, labels, Expression());
  constexpr double inf = std::numeric_limits<double>::infinity();
  Expression own = maxOver(select(rows.hit(), scores, -inf), {1});
  // The label's rank is the number of scores before it. NaN is not at most any
  // score, so it is before all of them; and all are before a NaN.
  Expression isEqualBefore = (scores == own) & (rows.classes < rows.label);
  Expression isBefore =
      select(scores <= own, isEqualBefore.to(b.getF32Type()), 1.0);
  Expression isClass = (rows.label >= 0) & (rows.label < rows.classCount());
  Expression isRight = (rows.sumClasses(isBefore) < getTopK()) & isClass;
  Expression right = isRight.to(b.getF32Type());
  return {reduceLoss(right, LossReduction::mean, right.number(rows.count()))};
}

LogicalResult AccuracyOp::verify() {
  int64_t classes = getLogits().getType().getDimSize(1), k = getTopK();
  if (k < 1 || (!ShapedType::isDynamic(classes) && k > classes))
    return emitOpError() << "top_k is " << k << ", expected 1 to the number of "
                         << "classes, " << classes;
  return success();
}

std::optional<IndexRange> AccuracyOp::getIndexRange(unsigned) {
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static const OperandSample kScores{"tensor<4x5xf64>", -2, 2},
    kLabels{"tensor<4xi32>", 0, 5}, kShares{"tensor<4x5xf64>", 0.1, 0.9},
    kWeight{"tensor<5xf64>", 0.5, 2};
static const char kTypes[] = " : tensor<4x5xf64>, tensor<4xi32>";
static const char kWeighted[] = " weight(%2 : tensor<5xf64>)";

std::vector<OpSample> CrossEntropyOp::sampleInputs() {
  std::string op = "mp.cross_entropy %0, %1";
  std::vector<OpSample> samples;
  for (const char *form :
       {"", " reduction(sum)", " {label_smoothing = 0.1}",
        " {ignore_index = 2 : i64}", " reduction(none) {ignore_index = 2}"})
    samples.push_back({{kScores, kLabels}, op + form + kTypes});
  // A mean of smoothed labels is left out, as its gradient for the weights
  // nearly cancels.
  for (const char *form :
       {"", " reduction(none) {label_smoothing = 0.1, ignore_index = 2}",
        " reduction(sum) {label_smoothing = 0.1, ignore_index = 2}"})
    samples.push_back(
        {{kScores, kLabels, kWeight}, op + kWeighted + form + kTypes});
  for (const char *form : {" {label_smoothing = 0.1}", " reduction(none)"})
    samples.push_back(
        {{kScores, kShares, kWeight},
         op + kWeighted + form + " : tensor<4x5xf64>, tensor<4x5xf64>"});
  samples.push_back({{{"tensor<2x5x3xf64>", -2, 2}, {"tensor<2x3xi32>", 0, 5}},
                     op + " : tensor<2x5x3xf64>, tensor<2x3xi32>"});
  return samples;
}
std::vector<OpSample> CrossEntropyBackwardOp::sampleInputs() {
  std::string op = "mp.cross_entropy_backward %0, %1, %2";
  std::string weight = " weight(%3 : tensor<5xf64>)";
  return {{{{"tensor<f64>"}, kScores, kLabels},
           op + " : tensor<f64>, tensor<4x5xf64>, tensor<4xi32>"},
          {{{"tensor<4xf64>"}, kScores, kLabels, kWeight},
           op + weight +
               " reduction(none) {label_smoothing = 0.1} : tensor<4xf64>, "
               "tensor<4x5xf64>, tensor<4xi32>"},
          {{{"tensor<f64>"}, kScores, kShares, kWeight},
           op + weight + " : tensor<f64>, tensor<4x5xf64>, tensor<4x5xf64>"}};
}
std::vector<OpSample> NllLossOp::sampleInputs() {
  std::string op = "mp.nll_loss %0, %1";
  return {{{kScores, kLabels}, op + kTypes},
          {{kScores, kLabels, kWeight},
           op + kWeighted + " {ignore_index = 2}" + kTypes},
          {{kScores, kLabels, kWeight},
           op + kWeighted + " reduction(none)" + kTypes}};
}
