//===- BinaryCrossEntropy.cpp - for probabilities and logits --------------===//
#include "dialect/ops/BinaryCrossEntropy.h"
#include "dialect/Adjoint.h"
#include "dialect/LossRules.h"
#include "dialect/ops/Activation.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// The type of the loss of each element: weights are broadcast to the shape of
/// input and target, and must not enlarge it.
template <typename Adaptor>
static FailureOr<RankedTensorType> inferEach(std::optional<Location> location,
                                             Adaptor adaptor,
                                             ArrayRef<Value> weights) {
  auto each =
      inferElementwise(location, {adaptor.getInput(), adaptor.getTarget()});
  if (failed(each))
    return failure();
  for (Value weight : weights) {
    if (!weight)
      continue;
    auto type = tensorType(weight);
    if (type.getElementType() != each->getElementType())
      return emitOptionalError(location,
                               "element types differ: ", each->getElementType(),
                               " vs ", type.getElementType());
    auto shape = broadcastShapes(each->getShape(), type.getShape());
    if (!shape || ArrayRef(*shape) != each->getShape())
      return emitOptionalError(
          location, "weight ", type,
          " does not broadcast to the loss's elements: ", *each);
  }
  return each;
}

#define MP_INFER(OP, ...)                                                      \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    auto each = inferEach(location, adaptor, {__VA_ARGS__});                   \
    if (failed(each))                                                          \
      return failure();                                                        \
    types.push_back(lossType(*each, reductionOf(adaptor)));                    \
    return success();                                                          \
  }
MP_INFER(BinaryCrossEntropyOp, adaptor.getWeight())
MP_INFER(BinaryCrossEntropyWithLogitsOp, adaptor.getWeight(),
         adaptor.getPosWeight())
#undef MP_INFER

/// The gradient of each element, which the walker sums to the input's shape.
#define MP_INFER_BACKWARD(OP, ...)                                             \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    auto each = inferEach(location, adaptor, {__VA_ARGS__});                   \
    if (failed(each) ||                                                        \
        failed(checkLossGradient(location, adaptor.getGradient(), *each,       \
                                 reductionOf(adaptor))))                       \
      return failure();                                                        \
    types.push_back(*each);                                                    \
    return success();                                                          \
  }
MP_INFER_BACKWARD(BinaryCrossEntropyBackwardOp, adaptor.getWeight())
MP_INFER_BACKWARD(BinaryCrossEntropyWithLogitsBackwardOp, adaptor.getWeight(),
                  adaptor.getPosWeight())
#undef MP_INFER_BACKWARD

#define MP_VERIFY(OP)                                                          \
  LogicalResult OP::verify() { return checkNoBatchMean(*this, getReduction()); }
MP_VERIFY(BinaryCrossEntropyOp)
MP_VERIFY(BinaryCrossEntropyBackwardOp)
MP_VERIFY(BinaryCrossEntropyWithLogitsOp)
MP_VERIFY(BinaryCrossEntropyWithLogitsBackwardOp)
#undef MP_VERIFY

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// log(1 - x), corrected for the rounding of 1 - x: with u = 1 - x as rounded,
/// it is log(u) x / (1 - u), where 1 - u is exact.
static Expression logOneMinus(Expression x) {
  Expression u = 1 - x;
  Expression rounded = 1 - u;
  Expression isLost = rounded == 0;
  Expression scale = x / select(isLost, 1, rounded);
  Expression logarithm = log(u) * scale;
  return select(isLost, -x, logarithm);
}

/// log(1 + exp(-x)) = max(-x, 0) + log(1 + exp(-|x|)).
static Expression lossOfOnes(Expression x) {
  auto &b = x.builder();
  Value below = -abs(x);
  Expression tail(b, SoftplusOp::create(b, below, APFloat(1.0), APFloat(20.0)));
  Expression zero = x.number(0);
  return max(-x, zero) + tail;
}

/// Multiplies by a weight that may be absent.
static Expression weighted(Expression x, Expression weight) {
  return weight ? x * weight : x;
}
static Expression countOf(Expression each) {
  return each.number(tensorType(each).getNumElements());
}
/// Operand `index` of a decomposition; null if the op lacks the operand.
static Expression optional(ImplicitLocOpBuilder &b, Value own,
                           ValueRange operands, unsigned index) {
  return own ? Expression(b, operands[index]) : Expression();
}

//===----------------------------------------------------------------------===//
// binary_cross_entropy
//===----------------------------------------------------------------------===//

SmallVector<Value> BinaryCrossEntropyOp::decompose(ImplicitLocOpBuilder &b,
                                                   ValueRange operands) {
  auto [x, y] = expressions<2>(b, operands);
  Expression weight = optional(b, getWeight(), operands, 2);
  Expression bound = x.number(-100);
  Expression ones = max(log(x), bound);
  Expression zeros = max(logOneMinus(x), bound);
  // (y - 1) log(1 - x) - y log x, in the order of PyTorch.
  Expression away = (y - 1) * zeros;
  Expression each = weighted(away - y * ones, weight);
  return {reduceLoss(each, getReduction(), countOf(each))};
}

SmallVector<Value>
BinaryCrossEntropyBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  auto [gradient, x, y] = expressions<3>(b, operands);
  Expression weight = optional(b, getWeight(), operands, 3);
  Expression variance = max((1 - x) * x, 1e-12);
  Expression slope = weighted((x - y) / variance, weight);
  return {slope * elementGradient(gradient, getReduction(), countOf(slope))};
}

/// The loss is linear in the target, with slope log(1 - x) - log x. As in
/// PyTorch, the logarithms are not bounded here.
static Value gradientOfTarget(ImplicitLocOpBuilder &b, BinaryCrossEntropyOp op,
                              Expression gradient) {
  auto each = *inferElementwise(std::nullopt, {op.getInput(), op.getTarget()});
  Type compute = computeType(each.getElementType());
  Expression x = Expression(b, op.getInput()).to(compute);
  Expression away = logOneMinus(x);
  Expression slope = away - log(x);
  if (Expression weight{b, op.getWeight()})
    slope = slope * weight.to(compute);
  Expression wide = gradient.to(compute),
             count = x.number(each.getNumElements());
  Value product = slope * elementGradient(wide, op.getReduction(), count);
  return BroadcastOp::create(b, each.clone(compute), product);
}

SmallVector<Value> BinaryCrossEntropyOp::buildGradients(ImplicitLocOpBuilder &b,
                                                        ValueRange g) {
  auto gradients = differentiateParts(*this, b, g);
  gradients[0] = BinaryCrossEntropyBackwardOp::create(
      b, g[0], getInput(), getTarget(), getWeight(), getReduction());
  gradients[1] = gradientOfTarget(b, *this, {b, g[0]});
  return gradients;
}
SmallVector<Value>
BinaryCrossEntropyBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return differentiateParts(*this, b, g);
}

//===----------------------------------------------------------------------===//
// binary_cross_entropy_with_logits
//===----------------------------------------------------------------------===//

/// (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x)).
SmallVector<Value>
BinaryCrossEntropyWithLogitsOp::decompose(ImplicitLocOpBuilder &b,
                                          ValueRange operands) {
  auto [x, y] = expressions<2>(b, operands);
  Expression weight = optional(b, getWeight(), operands, 2);
  Expression positive =
      optional(b, getPosWeight(), operands, operands.size() - 1);
  Expression curve = lossOfOnes(x);
  if (positive) {
    Expression one = x.number(1);
    curve = ((positive - one) * y + one) * curve;
  }
  Expression each = weighted((1 - y) * x + curve, weight);
  return {reduceLoss(each, getReduction(), countOf(each))};
}

/// sigmoid(x) - y; with a weight p for y, (p y + 1 - y) sigmoid(x) - p y.
SmallVector<Value>
BinaryCrossEntropyWithLogitsBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                  ValueRange operands) {
  auto [gradient, x, y] = expressions<3>(b, operands);
  Expression weight = optional(b, getWeight(), operands, 3);
  Expression positive =
      optional(b, getPosWeight(), operands, operands.size() - 1);
  Expression probability = sigmoid(x), ones = y;
  if (positive) {
    ones = positive * y;
    probability = (ones + (1 - y)) * probability;
  }
  Expression slope = weighted(probability - ones, weight);
  return {slope * elementGradient(gradient, getReduction(), countOf(slope))};
}

SmallVector<Value>
BinaryCrossEntropyWithLogitsOp::buildGradients(ImplicitLocOpBuilder &b,
                                               ValueRange g) {
  auto gradients = differentiateParts(*this, b, g);
  gradients[0] = BinaryCrossEntropyWithLogitsBackwardOp::create(
      b, g[0], getInput(), getTarget(), getWeight(), getPosWeight(),
      getReduction());
  return gradients;
}
SmallVector<Value>
BinaryCrossEntropyWithLogitsBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                       ValueRange g) {
  return differentiateParts(*this, b, g);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static const OperandSample kProbability{"tensor<3x5xf64>", 0.1, 0.9},
    kLogit{"tensor<3x5xf64>", -3, 3}, kWeight{"tensor<5xf64>", 0.5, 2};
static const char kPair[] = " : tensor<3x5xf64>, tensor<3x5xf64>";

std::vector<OpSample> BinaryCrossEntropyOp::sampleInputs() {
  std::string op = "mp.binary_cross_entropy %0, %1";
  return {{{kProbability, kProbability}, op + kPair},
          {{kProbability, kProbability, kWeight},
           op + " weight(%2 : tensor<5xf64>) reduction(sum)" + kPair},
          {{kProbability, kProbability}, op + " reduction(none)" + kPair}};
}
std::vector<OpSample> BinaryCrossEntropyBackwardOp::sampleInputs() {
  std::string op = "mp.binary_cross_entropy_backward %0, %1, %2";
  return {{{{"tensor<f64>"}, kProbability, kProbability, kWeight},
           op + " weight(%3 : tensor<5xf64>) : tensor<f64>, tensor<3x5xf64>, "
                "tensor<3x5xf64>"},
          {{{"tensor<3x5xf64>"}, kProbability, kProbability},
           op + " reduction(none) : tensor<3x5xf64>, tensor<3x5xf64>, "
                "tensor<3x5xf64>"}};
}
std::vector<OpSample> BinaryCrossEntropyWithLogitsOp::sampleInputs() {
  std::string op = "mp.binary_cross_entropy_with_logits %0, %1";
  std::string weight = " weight(%2 : tensor<5xf64>)";
  return {{{kLogit, kProbability}, op + kPair},
          {{kLogit, kProbability, kWeight},
           op + " pos_weight(%2 : tensor<5xf64>) reduction(none)" + kPair},
          {{kLogit, kProbability, kWeight},
           op + weight + " reduction(sum)" + kPair},
          {{kLogit, kProbability, kWeight, kWeight},
           op + weight + " pos_weight(%3 : tensor<5xf64>)" + kPair}};
}
std::vector<OpSample> BinaryCrossEntropyWithLogitsBackwardOp::sampleInputs() {
  std::string op = "mp.binary_cross_entropy_with_logits_backward %0, %1, %2";
  return {{{{"tensor<f64>"}, kLogit, kProbability},
           op + " : tensor<f64>, tensor<3x5xf64>, tensor<3x5xf64>"},
          {{{"tensor<3x5xf64>"}, kLogit, kProbability, kWeight, kWeight},
           op + " weight(%3 : tensor<5xf64>) pos_weight(%4 : tensor<5xf64>) "
                "reduction(none) : tensor<3x5xf64>, tensor<3x5xf64>, "
                "tensor<3x5xf64>"}};
}
