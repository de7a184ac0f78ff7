//===- Loss.cpp - losses and scores ---------------------------------------===//
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// `logits` [N, C] and `labels` [N].
static LogicalResult checkRows(std::optional<Location> location, Value logits,
                               Value labels) {
  auto scores = tensorType(logits), classes = tensorType(labels);
  if (scores.getRank() != 2)
    return emitOptionalError(
        location,
        "logits must have two dimensions, rows and classes: ", scores);
  if (classes.getRank() != 1 || classes.getDimSize(0) != scores.getDimSize(0))
    return emitOptionalError(location, "labels ", classes,
                             " do not have the logits' rows: ", scores);
  return success();
}
static LogicalResult inferScalar(std::optional<Location> location, Value logits,
                                 Value labels, SmallVectorImpl<Type> &types) {
  if (failed(checkRows(location, logits, labels)))
    return failure();
  types.push_back(RankedTensorType::get({}, elementType(logits)));
  return success();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  return inferScalar(location, adaptor.getLogits(), adaptor.getLabels(), types);
}
LogicalResult CrossEntropyBackwardOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(checkRows(location, adaptor.getLogits(), adaptor.getLabels())))
    return failure();
  Type element = elementType(adaptor.getGradient()),
       wanted = elementType(adaptor.getLogits());
  if (element != wanted)
    return emitOptionalError(location, "element types differ: ", element,
                             " vs ", wanted);
  types.push_back(adaptor.getLogits().getType());
  return success();
}
LogicalResult AccuracyOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  if (failed(checkRows(location, adaptor.getLogits(), adaptor.getLabels())))
    return failure();
  types.push_back(RankedTensorType::get({}, Float32Type::get(context)));
  return success();
}

template <typename Op> static LogicalResult verifyArguments(Op op) {
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1))
    return op.emitOpError()
           << "label_smoothing is " << smoothing << ", expected 0 to 1";
  int64_t ignored = op.getIgnoreIndex();
  if (!llvm::isInt<32>(ignored))
    return op.emitOpError()
           << "ignore_index is " << ignored << ", expected a 32-bit number";
  return success();
}
LogicalResult CrossEntropyOp::verify() { return verifyArguments(*this); }
LogicalResult CrossEntropyBackwardOp::verify() {
  return verifyArguments(*this);
}

//===----------------------------------------------------------------------===//
// Building blocks: rows of a [N, C] matrix as [N, 1] columns
//===----------------------------------------------------------------------===//

namespace {
/// The labels against the classes, in a decomposition.
class Rows {
public:
  Rows(ImplicitLocOpBuilder &b, Value logits, Value labels)
      : b(b), logits(logits), type(tensorType(logits)),
        column(type.clone({type.getDimSize(0), 1})) {
    Value wide = castTo(b, labels, b.getI32Type());
    label = ReshapeOp::create(b, column.clone(b.getI32Type()), wide);
    classes = IotaOp::create(b, type.clone(b.getI32Type()), 1);
  }

  double count() const { return type.getDimSize(0); }
  double classCount() const { return type.getDimSize(1); }
  Value number(double value) {
    return splat(b, RankedTensorType::get({}, type.getElementType()), value);
  }
  Value integer(int64_t value) {
    return splat(b, RankedTensorType::get({}, b.getI32Type()), value);
  }
  Value sumRow(Value x) {
    return SumOp::create(b, x, ArrayRef<int64_t>{1}, true);
  }
  Value sumAll(Value x) {
    return SumOp::create(b, x, ArrayRef<int64_t>{0, 1}, false);
  }

  Value logSoftmax() {
    return LogSoftmaxOp::create(b, logits, 1).decompose(b, {logits})[0];
  }
  /// [N, C]: whether the class is the label.
  Value hit() { return CompareOp::create(b, Comparison::eq, classes, label); }
  /// [N, 1]: whether the row counts.
  Value valid(int64_t ignored) {
    return CompareOp::create(b, Comparison::ne, label, integer(ignored));
  }

  ImplicitLocOpBuilder &b;
  Value logits;
  RankedTensorType type, column;
  Value label, classes;
};
} // namespace

/// Whether labels of this type can be `ignored` at all; no mask is built else.
static bool canIgnore(Value labels, int64_t ignored) {
  auto type = cast<IntegerType>(elementType(labels));
  if (type.isUnsigned())
    return ignored >= 0 && ignored < (int64_t(1) << type.getWidth());
  return llvm::isIntN(type.getWidth(), ignored);
}

/// Rows that count, as a number: the divisor of a mean.
static Value validCount(Rows &rows, Value valid) {
  return rows.sumAll(castTo(rows.b, valid, rows.type.getElementType()));
}

//===----------------------------------------------------------------------===//
// cross_entropy
//===----------------------------------------------------------------------===//

SmallVector<Value> CrossEntropyOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  Rows rows(b, operands[0], operands[1]);
  double smoothing = getLabelSmoothing().convertToDouble();
  Value logProb = rows.logSoftmax();
  Value zero = rows.number(0);
  Value picked = rows.sumRow(SelectOp::create(b, rows.hit(), logProb, zero));
  Value loss = NegOp::create(b, picked);
  if (smoothing != 0) {
    Value all = MulOp::create(b, rows.sumRow(logProb),
                              rows.number(-smoothing / rows.classCount()));
    loss = AddOp::create(b, MulOp::create(b, loss, rows.number(1 - smoothing)),
                         all);
  }
  Value divisor = rows.number(rows.count());
  if (canIgnore(getLabels(), getIgnoreIndex())) {
    Value valid = rows.valid(getIgnoreIndex());
    loss = SelectOp::create(b, valid, loss, zero);
    divisor = validCount(rows, valid);
  }
  Value total = rows.sumAll(loss);
  if (getReduction() == LossReduction::sum)
    return {total};
  return {DivOp::create(b, total, divisor)};
}

SmallVector<Value> CrossEntropyBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                     ValueRange operands) {
  Rows rows(b, operands[1], operands[2]);
  double smoothing = getLabelSmoothing().convertToDouble();
  Value prob = ExpOp::create(b, rows.logSoftmax());
  Value hot = rows.number(1 - smoothing + smoothing / rows.classCount());
  Value cold = rows.number(smoothing / rows.classCount());
  Value target = SelectOp::create(b, rows.hit(), hot, cold);
  Value weight = operands[0];
  bool masked = canIgnore(getLabels(), getIgnoreIndex());
  Value valid = masked ? rows.valid(getIgnoreIndex()) : Value();
  if (getReduction() == LossReduction::mean)
    weight = DivOp::create(b, weight,
                           masked ? validCount(rows, valid)
                                  : rows.number(rows.count()));
  if (masked)
    weight = SelectOp::create(b, valid, weight, rows.number(0));
  return {MulOp::create(b, SubOp::create(b, prob, target), weight)};
}

SmallVector<Value> CrossEntropyOp::buildGradients(ImplicitLocOpBuilder &b,
                                                  ValueRange g) {
  return {CrossEntropyBackwardOp::create(b, g[0], getLogits(), getLabels(),
                                         getReduction(), getIgnoreIndex(),
                                         getLabelSmoothing()),
          Value()};
}

std::optional<IndexRange> CrossEntropyOp::getIndexRange(unsigned operand) {
  if (operand != 1)
    return std::nullopt;
  return IndexRange{0, getLogits().getType().getDimSize(1),
                    static_cast<int64_t>(getIgnoreIndex())};
}

std::vector<OpSample> CrossEntropyOp::sampleInputs() {
  OperandSample logits{"tensor<4x5xf64>", -2, 2}, labels{"tensor<4xi32>", 0, 5};
  std::vector<OpSample> samples;
  for (const char *form :
       {"", " reduction(sum)", " {label_smoothing = 1.0e-1 : f64}",
        " {ignore_index = 2 : i64}"})
    samples.push_back({{logits, labels},
                       std::string("mp.cross_entropy %0, %1") + form +
                           " : tensor<4x5xf64>, tensor<4xi32>"});
  return samples;
}

//===----------------------------------------------------------------------===//
// accuracy
//===----------------------------------------------------------------------===//

SmallVector<Value> AccuracyOp::decompose(ImplicitLocOpBuilder &b,
                                         ValueRange operands) {
  Rows rows(b, operands[0], operands[1]);
  Value largest = MaxOp::create(b, rows.logits, ArrayRef<int64_t>{1}, true);
  Value isLargest = CompareOp::create(b, Comparison::eq, rows.logits, largest);
  // Of equal scores the first counts; a row of NaN has none.
  Value candidates = SelectOp::create(b, isLargest, rows.classes,
                                      rows.integer(rows.classCount()));
  Value first = MinOp::create(b, candidates, ArrayRef<int64_t>{1}, true);
  Value right =
      castTo(b, CompareOp::create(b, Comparison::eq, first, rows.label),
             b.getF32Type());
  Value count =
      splat(b, RankedTensorType::get({}, b.getF32Type()), rows.count());
  return {DivOp::create(b, rows.sumAll(right), count)};
}

std::optional<IndexRange> AccuracyOp::getIndexRange(unsigned) {
  return std::nullopt;
}
