//===- CrossEntropy.cpp - losses and scores of classes --------------------===//
#include "dialect/ops/CrossEntropy.h"
#include "dialect/Adjoint.h"
#include "dialect/LossRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/Softmax.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

static bool areProbabilities(Value labels) { return isFloatTensor(labels); }

/// The loss of each row of `scores` [N, C, ...]: [N, ...].
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
/// `scores` [N, C, ...], `labels` [N, ...] or probabilities, `weight` [C].
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

/// Whether labels of this type can be `ignored` at all; no mask is built else.
static bool canIgnore(Value labels, int64_t ignored) {
  auto type = dyn_cast<IntegerType>(elementType(labels));
  if (!type)
    return false;
  if (type.isUnsigned())
    return ignored >= 0 && ignored < (int64_t(1) << type.getWidth());
  return llvm::isIntN(type.getWidth(), ignored);
}

namespace {
/// The labels against the classes, in a decomposition.
class Rows {
public:
  Rows(ImplicitLocOpBuilder &b, RankedTensorType scores, Value labels,
       Value weight)
      : b(b), type(scores), labels(labels) {
    SmallVector<int64_t> one(type.getShape());
    one[1] = 1;
    column = type.clone(one);
    if (weight)
      classWeight = perClass(weight);
    if (areProbabilities(labels))
      return;
    Value wide = castTo(b, labels, b.getI32Type());
    label = ReshapeOp::create(b, column.clone(b.getI32Type()), wide);
    classes = IotaOp::create(b, type.clone(b.getI32Type()), 1);
  }

  double count() const { return column.getNumElements(); }
  double classCount() const { return type.getDimSize(1); }
  Value number(double value) {
    return splat(b, RankedTensorType::get({}, type.getElementType()), value);
  }
  Value sumClasses(Value x) {
    return SumOp::create(b, x, ArrayRef<int64_t>{1}, true);
  }
  /// [C] as what broadcasts against the scores.
  Value perClass(Value weight) {
    if (type.getRank() == 2)
      return weight;
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = type.getDimSize(1);
    return ReshapeOp::create(b, type.clone(shape), weight);
  }
  /// Times the weight of the class, if there are any.
  Value weighted(Value x) {
    return classWeight ? Value(MulOp::create(b, x, classWeight)) : x;
  }
  /// Whether the class is the label, as in [N, C, ...].
  Value hit() { return CompareOp::create(b, Comparison::eq, classes, label); }
  /// The label's entry of each row.
  Value pick(Value x) {
    Value isLabel = hit();
    return sumClasses(SelectOp::create(b, isLabel, x, number(0)));
  }
  /// Column `x`, with 0 for rows that are `ignored`.
  Value masked(Value x, int64_t ignored) {
    if (!canIgnore(labels, ignored))
      return x;
    Value counts = valid(ignored);
    return SelectOp::create(b, counts, x, number(0));
  }
  /// What a mean divides by: the sum of the labels' weights, or how many rows
  /// count.
  Value divisor(int64_t ignored) {
    bool isMasked = canIgnore(labels, ignored);
    if (areProbabilities(labels) || (!classWeight && !isMasked))
      return number(count());
    Value rows = classWeight ? masked(pick(classWeight), ignored)
                             : castTo(b, valid(ignored), type.getElementType());
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return SumOp::create(b, rows, dims, false);
  }
  /// A column as the result of reduction(none).
  Value asRows(Value x) { return ReshapeOp::create(b, rowsOf(type), x); }
  /// A gradient of the result as what broadcasts against the scores.
  Value asColumn(Value gradient) {
    return tensorType(gradient).getRank() == 0
               ? gradient
               : Value(ReshapeOp::create(b, column, gradient));
  }

  ImplicitLocOpBuilder &b;
  RankedTensorType type, column;
  Value labels, label, classes, classWeight;

private:
  Value valid(int64_t ignored) {
    Value number = splat(b, RankedTensorType::get({}, b.getI32Type()), ignored);
    return CompareOp::create(b, Comparison::ne, label, number);
  }
};

/// How the classes of a row share its loss, in a decomposition: the weights
/// included, rows to be ignored not left out.
class Shares {
public:
  Shares(Rows &rows, double smoothing)
      : rows(rows), kept(1 - smoothing), given(smoothing / rows.classCount()) {}

  /// The sum of the shares times `x`. An infinite `x` counts only where a share
  /// is meant to be there.
  Value sumOf(Value x) {
    auto &b = rows.b;
    Value term = rows.weighted(x);
    if (areProbabilities(rows.labels))
      return rows.sumClasses(MulOp::create(b, shares(), x));
    Value picked = rows.pick(term);
    if (given == 0)
      return picked;
    Value total = rows.sumClasses(term);
    Value even = MulOp::create(b, total, rows.number(given));
    return AddOp::create(b, MulOp::create(b, picked, rows.number(kept)), even);
  }
  /// [N, C, ...].
  Value shares() {
    auto &b = rows.b;
    Value cold = rows.number(given);
    if (!areProbabilities(rows.labels)) {
      Value isLabel = rows.hit(), hot = rows.number(kept + given);
      return rows.weighted(SelectOp::create(b, isLabel, hot, cold));
    }
    Value share = rows.labels;
    if (given != 0)
      share =
          AddOp::create(b, MulOp::create(b, share, rows.number(kept)), cold);
    return rows.weighted(share);
  }
  /// Whether only the label has one, and there is a class that may be it.
  bool areOnlyLabels() const {
    return !areProbabilities(rows.labels) && given == 0 &&
           rows.type.getNumElements() > 0;
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

/// The loss from those of its rows, a column.
static SmallVector<Value> reduceRows(Rows &rows, Value each,
                                     LossReduction reduction, int64_t ignored) {
  each = rows.masked(each, ignored);
  if (reduction == LossReduction::none)
    return {rows.asRows(each)};
  Value divisor =
      reduction == LossReduction::mean ? rows.divisor(ignored) : Value();
  return {reduceLoss(rows.b, each, reduction, divisor)};
}

//===----------------------------------------------------------------------===//
// cross_entropy
//===----------------------------------------------------------------------===//

/// The label's entry of log_softmax, with its weight. Picked from `x` itself,
/// while the largest is looked for: the same bits, and no pass over the rows to
/// compute what all the others would be.
static Value pickedLogSoftmax(Rows &rows, Value x) {
  auto &b = rows.b;
  const int64_t classes[] = {1};
  Value largest = MaxOp::create(b, x, classes, true);
  Value picked = SubOp::create(b, rows.pick(x), largest);
  Value total = rows.sumClasses(ExpOp::create(b, SubOp::create(b, x, largest)));
  Value logProb = SubOp::create(b, picked, LogOp::create(b, total));
  return rows.classWeight
             ? Value(MulOp::create(b, logProb, rows.pick(rows.classWeight)))
             : logProb;
}

SmallVector<Value> CrossEntropyOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  Rows rows(b, tensorType(operands[0]), operands[1],
            getWeight() ? operands[2] : Value());
  Shares shares(rows, getLabelSmoothing().convertToDouble());
  Value logProb = shares.areOnlyLabels()
                      ? pickedLogSoftmax(rows, operands[0])
                      : shares.sumOf(LogSoftmaxOp::create(b, operands[0], 1));
  Value loss = NegOp::create(b, logProb);
  return reduceRows(rows, loss, getReduction(), getIgnoreIndex());
}

/// With p the softmax and s the shares, p sum(s) - s.
SmallVector<Value> CrossEntropyBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                     ValueRange operands) {
  Rows rows(b, tensorType(operands[1]), operands[2],
            getWeight() ? operands[3] : Value());
  Value prob = SoftmaxOp::create(b, operands[1], 1);
  Shares shares(rows, getLabelSmoothing().convertToDouble());
  Value share = shares.shares();
  if (!shares.areWhole())
    prob = MulOp::create(b, prob, rows.sumClasses(share));
  Value g = rows.asColumn(operands[0]);
  if (getReduction() == LossReduction::mean)
    g = DivOp::create(b, g, rows.divisor(getIgnoreIndex()));
  g = rows.masked(g, getIgnoreIndex());
  return {MulOp::create(b, SubOp::create(b, prob, share), g)};
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
  Rows rows(b, tensorType(operands[0]), operands[1],
            getWeight() ? operands[2] : Value());
  Value loss = NegOp::create(b, rows.pick(rows.weighted(operands[0])));
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
  Rows rows(b, tensorType(operands[0]), operands[1], Value());
  Value scores = operands[0];
  auto integer = RankedTensorType::get({}, b.getI32Type());
  Value largest = MaxOp::create(b, scores, ArrayRef<int64_t>{1}, true);
  Value isLargest = CompareOp::create(b, Comparison::eq, scores, largest);
  // Of equal scores the first counts; a row of NaN has none.
  Value none = splat(b, integer, rows.classCount());
  Value candidates = SelectOp::create(b, isLargest, rows.classes, none);
  Value first = MinOp::create(b, candidates, ArrayRef<int64_t>{1}, true);
  Value right =
      castTo(b, CompareOp::create(b, Comparison::eq, first, rows.label),
             b.getF32Type());
  Value count = numberLike(b, right, rows.count());
  return {reduceLoss(b, right, LossReduction::mean, count)};
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
  // No mean of smoothed labels: what reaches the weights nearly cancels there.
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
