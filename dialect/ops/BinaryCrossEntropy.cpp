//===- BinaryCrossEntropy.cpp - of probabilities and logits ---------------===//
#include "dialect/ops/BinaryCrossEntropy.h"
#include "dialect/Adjoint.h"
#include "dialect/LossRules.h"
#include "dialect/ops/Activation.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// Type of the loss of each element: weights are broadcast to the input and
/// target, and do not make more elements of them.
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

/// The gradient of an element, which the walker sums to the input's shape.
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

static Value oneMinus(ImplicitLocOpBuilder &b, Value x) {
  return SubOp::create(b, numberLike(b, x, 1), x);
}

/// log(1 - x). What 1 - x loses of a small x is put back: with u = 1 - x as it
/// was rounded, log(u) x / (1 - u), where 1 - u is exact.
static Value logOneMinus(ImplicitLocOpBuilder &b, Value x) {
  Value u = oneMinus(b, x);
  Value rounded = oneMinus(b, u);
  Value isLost =
      CompareOp::create(b, Comparison::eq, rounded, numberLike(b, x, 0));
  Value scale = DivOp::create(
      b, x, SelectOp::create(b, isLost, numberLike(b, x, 1), rounded));
  Value logarithm = MulOp::create(b, LogOp::create(b, u), scale);
  return SelectOp::create(b, isLost, NegOp::create(b, x), logarithm);
}

/// log(1 + exp(-x)) = max(-x, 0) + log(1 + exp(-|x|)).
static Value lossOfOnes(ImplicitLocOpBuilder &b, Value x) {
  Value tail = SoftplusOp::create(b, NegOp::create(b, AbsOp::create(b, x)),
                                  APFloat(1.0), APFloat(20.0));
  Value zero = numberLike(b, x, 0);
  Value line = MaximumOp::create(b, NegOp::create(b, x), zero);
  return AddOp::create(b, line, tail);
}

/// Times a weight that may be absent.
static Value weighted(ImplicitLocOpBuilder &b, Value x, Value weight) {
  return weight ? Value(MulOp::create(b, x, weight)) : x;
}
static Value countOf(ImplicitLocOpBuilder &b, Value each) {
  return numberLike(b, each, tensorType(each).getNumElements());
}
/// Operand `index` as a decomposition is given it; null where it is absent.
static Value optional(Value own, ValueRange operands, unsigned index) {
  return own ? operands[index] : Value();
}

//===----------------------------------------------------------------------===//
// binary_cross_entropy
//===----------------------------------------------------------------------===//

SmallVector<Value> BinaryCrossEntropyOp::decompose(ImplicitLocOpBuilder &b,
                                                   ValueRange operands) {
  Value x = operands[0], y = operands[1], bound = numberLike(b, x, -100);
  Value ones = MaximumOp::create(b, LogOp::create(b, x), bound);
  Value zeros = MaximumOp::create(b, logOneMinus(b, x), bound);
  // (y - 1) log(1 - x) - y log x, the order of PyTorch.
  Value away =
      MulOp::create(b, SubOp::create(b, y, numberLike(b, y, 1)), zeros);
  Value each = SubOp::create(b, away, MulOp::create(b, y, ones));
  each = weighted(b, each, optional(getWeight(), operands, 2));
  return {reduceLoss(b, each, getReduction(), countOf(b, each))};
}

SmallVector<Value>
BinaryCrossEntropyBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  Value x = operands[1], y = operands[2];
  Value variance = MulOp::create(b, oneMinus(b, x), x);
  variance = MaximumOp::create(b, variance, numberLike(b, x, 1e-12));
  Value slope = DivOp::create(b, SubOp::create(b, x, y), variance);
  slope = weighted(b, slope, optional(getWeight(), operands, 3));
  Value g = elementGradient(b, operands[0], getReduction(), countOf(b, slope));
  return {MulOp::create(b, slope, g)};
}

/// The loss is linear in the target, with the slope log(1 - x) - log x: as in
/// PyTorch without the bound of the logarithms.
static Value gradientOfTarget(ImplicitLocOpBuilder &b, BinaryCrossEntropyOp op,
                              Value gradient) {
  auto each = *inferElementwise(std::nullopt, {op.getInput(), op.getTarget()});
  Type compute = computeType(each.getElementType());
  Value x = castTo(b, op.getInput(), compute);
  Value away = logOneMinus(b, x);
  Value slope = SubOp::create(b, away, LogOp::create(b, x));
  if (Value weight = op.getWeight())
    slope = MulOp::create(b, slope, castTo(b, weight, compute));
  Value g = elementGradient(b, castTo(b, gradient, compute), op.getReduction(),
                            numberLike(b, x, each.getNumElements()));
  Value product = MulOp::create(b, slope, g);
  return BroadcastOp::create(b, each.clone(compute), product);
}

SmallVector<Value> BinaryCrossEntropyOp::buildGradients(ImplicitLocOpBuilder &b,
                                                        ValueRange g) {
  auto gradients = differentiateParts(*this, b, g);
  gradients[0] = BinaryCrossEntropyBackwardOp::create(
      b, g[0], getInput(), getTarget(), getWeight(), getReduction());
  gradients[1] = gradientOfTarget(b, *this, g[0]);
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
  Value x = operands[0], y = operands[1];
  Value weight = optional(getWeight(), operands, 2);
  Value positive = optional(getPosWeight(), operands, operands.size() - 1);
  Value curve = lossOfOnes(b, x);
  if (positive) {
    Value one = numberLike(b, x, 1);
    Value extra = MulOp::create(b, SubOp::create(b, positive, one), y);
    curve = MulOp::create(b, AddOp::create(b, extra, one), curve);
  }
  Value each = AddOp::create(b, MulOp::create(b, oneMinus(b, y), x), curve);
  each = weighted(b, each, weight);
  return {reduceLoss(b, each, getReduction(), countOf(b, each))};
}

/// The logistic function of x less y; with a weight p of y,
/// (p y + 1 - y) sigmoid(x) - p y.
SmallVector<Value>
BinaryCrossEntropyWithLogitsBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                  ValueRange operands) {
  Value x = operands[1], y = operands[2];
  Value weight = optional(getWeight(), operands, 3);
  Value positive = optional(getPosWeight(), operands, operands.size() - 1);
  Value probability = SigmoidOp::create(b, x);
  if (positive) {
    y = MulOp::create(b, positive, y);
    Value rest = AddOp::create(b, y, oneMinus(b, operands[2]));
    probability = MulOp::create(b, rest, probability);
  }
  Value slope = SubOp::create(b, probability, y);
  slope = weighted(b, slope, weight);
  Value g = elementGradient(b, operands[0], getReduction(), countOf(b, slope));
  return {MulOp::create(b, slope, g)};
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
