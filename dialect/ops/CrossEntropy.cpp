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
// Building blocks: rows of scores, [N, C, ...], as columns, [N, 1, ...]
//===----------------------------------------------------------------------===//

static bool areProbabilities(Value labels) { return isFloatTensor(labels); }

namespace {
/// The labels and the classes of rows, in a decomposition.
class Rows {
public:
  /// The scores of the rows, with the classes in dimension `dim`, and their
  /// labels; `weight` may be null.
  Rows(Expression scores, Expression labels, Expression weight, int64_t dim)
      : scores(scores), labels(labels), dim(dim), b(scores.builder()),
        type(tensorType(scores)) {
    SmallVector<int64_t> one(type.getShape());
    one[dim] = 1;
    column = type.clone(one);
    if (weight)
      classWeight = perClass(weight);
    if (areProbabilities(labels))
      return;
    Type i32 = b.getI32Type();
    Value integers = labels.to(i32);
    label = {b, ReshapeOp::create(b, column.clone(i32), integers)};
    classes = {b, IotaOp::create(b, type.clone(i32), dim)};
  }

  double count() const { return column.getNumElements(); }
  double classCount() const { return type.getDimSize(dim); }
  Expression sumClasses(Expression x) { return sumOver(x, {dim}); }
  /// Reshapes [C] so that it broadcasts against the scores.
  Expression perClass(Expression weight) {
    if (dim == type.getRank() - 1)
      return weight;
    SmallVector<int64_t> shape(type.getRank() - dim, 1);
    shape[0] = type.getDimSize(dim);
    return {b, ReshapeOp::create(b, type.clone(shape), Value(weight))};
  }
  /// Multiplies by the weight of the class, if there are weights.
  Expression weighted(Expression x) {
    return classWeight ? x * classWeight : x;
  }
  /// Whether the class is the label, with the shape of the scores.
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
  Value asRows(Value x) {
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + dim);
    return ReshapeOp::create(b, tensorType(x).clone(shape), x);
  }
  /// A gradient of the result, reshaped to broadcast against the scores.
  Expression asColumn(Expression gradient) {
    if (tensorType(gradient).getRank() == 0)
      return gradient;
    return {b, ReshapeOp::create(b, column, Value(gradient))};
  }

  Expression scores, labels, label, classes, classWeight;
  int64_t dim; ///< of the classes

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
  /// One for each score.
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
  Expression largest = largestOver(x, rows.dim);
  Expression picked = rows.pick(x) - largest;
  Expression total =
      rows.sumClasses(expFor(loss, x - largest, ExpArgument::NotPositive));
  Expression logProb = picked - log(total);
  return rows.classWeight ? logProb * rows.pick(rows.classWeight) : logProb;
}

/// Where the classes are the last of several dimensions, returns the result of
/// the op over [rows, classes], as products have them: then what is computed of
/// the scores is one kernel. Null otherwise.
template <typename Op>
static Value overRows(Op op, ImplicitLocOpBuilder &b, ValueRange operands) {
  auto scores = op.getLogits().getType();
  if (scores.getRank() < 3 || int64_t(op.getDim()) != scores.getRank() - 1)
    return {};
  ArrayRef<int64_t> rows = scores.getShape().drop_back();
  const int64_t count = llvm::product_of(rows),
                classes = scores.getShape().back();
  SmallVector<Value> flat;
  for (Value operand : operands) {
    auto type = tensorType(operand);
    if (type.getShape() == rows)
      operand = ReshapeOp::create(b, type.clone({count}), operand);
    else if (type.getShape() == scores.getShape())
      operand = ReshapeOp::create(b, type.clone({count, classes}), operand);
    flat.push_back(operand);
  }
  Operation *copy = b.clone(*op);
  copy->setOperands(flat);
  cast<Op>(copy).setDim(1);
  (void)inferResultsAgain(copy);
  auto type = tensorType(op.getResult());
  if (!type.getRank())
    return copy->getResult(0);
  return ReshapeOp::create(b, type.clone(elementType(copy->getResult(0))),
                           copy->getResult(0));
}

SmallVector<Value> CrossEntropyOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  if (Value result = overRows(*this, b, operands))
    return {result};
  auto [logits, labels] = expressions<2>(b, operands);
  Rows rows(logits, labels, {b, getWeight() ? operands[2] : Value()}, getDim());
  Shares shares(rows, getLabelSmoothing().convertToDouble());
  Expression logProb =
      shares.areOnlyLabels()
          ? pickedLogSoftmax(rows, elementType(getResult()))
          : shares.sumOf({b, LogSoftmaxOp::create(b, operands[0], getDim())});
  return reduceRows(rows, -logProb, getReduction(), getIgnoreIndex());
}

/// p sum(s) - s, where p is the softmax and s are the shares.
SmallVector<Value> CrossEntropyBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                     ValueRange operands) {
  if (Value result = overRows(*this, b, operands))
    return {result};
  auto [gradient, logits, labels] = expressions<3>(b, operands);
  Rows rows(logits, labels, {b, getWeight() ? operands[3] : Value()}, getDim());
  Shares shares(rows, getLabelSmoothing().convertToDouble());
  // A share of all classes can be nearly that of the softmax, and then the
  // difference needs all its digits.
  Expression prob = softmaxFor(shares.areOnlyLabels() ? elementType(getResult())
                                                      : logits.getType(),
                               logits, getDim());
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
      b, g[0], getLogits(), getLabels(), getWeight(), getDim(), getReduction(),
      getIgnoreIndex(), getLabelSmoothing());
  return gradients;
}
SmallVector<Value>
CrossEntropyBackwardOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return differentiateParts(*this, b, g);
}

//===----------------------------------------------------------------------===//
// nll_loss
//===----------------------------------------------------------------------===//

SmallVector<Value> NllLossOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  auto [logProb, labels] = expressions<2>(b, operands);
  Rows rows(logProb, labels, {b, getWeight() ? operands[2] : Value()},
            getDim());
  Expression loss = -rows.pick(rows.weighted(logProb));
  return reduceRows(rows, loss, getReduction(), getIgnoreIndex());
}
SmallVector<Value> NllLossOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return differentiateParts(*this, b, g);
}

//===----------------------------------------------------------------------===//
// accuracy
//===----------------------------------------------------------------------===//

SmallVector<Value> AccuracyOp::decompose(ImplicitLocOpBuilder &b,
                                         ValueRange operands) {
  if (Value result = overRows(*this, b, operands))
    return {result};
  auto [scores, labels] = expressions<2>(b, operands);
  Rows rows(scores, labels, Expression(), getDim());
  constexpr double inf = std::numeric_limits<double>::infinity();
  Expression own = maxOver(select(rows.hit(), scores, -inf), {rows.dim});
  // The label's rank is the number of scores before it. NaN is not at most any
  // score, so it is before all of them; and all are before a NaN.
  Expression isEqualBefore = (scores == own) & (rows.classes < rows.label);
  Expression isBefore =
      select(scores <= own, isEqualBefore.to(b.getF32Type()), 1.0);
  Expression isClass = (rows.label >= 0) & (rows.label < rows.classCount());
  Expression isRight = (rows.sumClasses(isBefore) < getTopK()) & isClass;
  Expression right = isRight.to(b.getF32Type());
  if (getReduction() == LossReduction::none)
    return {rows.asRows(right)};
  return {reduceLoss(right, getReduction(), right.number(rows.count()))};
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
  for (const char *form : {"", " reduction(none) {label_smoothing = 0.1}"})
    samples.push_back(
        {{{"tensor<2x3x5xf64>", -2, 2}, {"tensor<2x3xi32>", 0, 5}, kWeight},
         op + kWeighted + " dim(2)" + form +
             " : tensor<2x3x5xf64>, tensor<2x3xi32>"});
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
           op + weight + " : tensor<f64>, tensor<4x5xf64>, tensor<4x5xf64>"},
          {{{"tensor<2x3xf64>"},
            {"tensor<2x3x5xf64>", -2, 2},
            {"tensor<2x3xi32>", 0, 5}},
           op + " dim(2) reduction(none) : tensor<2x3xf64>, "
                "tensor<2x3x5xf64>, tensor<2x3xi32>"}};
}
std::vector<OpSample> NllLossOp::sampleInputs() {
  std::string op = "mp.nll_loss %0, %1";
  return {{{kScores, kLabels}, op + kTypes},
          {{kScores, kLabels, kWeight},
           op + kWeighted + " {ignore_index = 2}" + kTypes},
          {{kScores, kLabels, kWeight},
           op + kWeighted + " reduction(none)" + kTypes},
          {{{"tensor<2x3x5xf64>", -2, 2}, {"tensor<2x3xi32>", 0, 5}},
           op + " dim(2) : tensor<2x3x5xf64>, tensor<2x3xi32>"}};
}
