//===- Softmax.cpp - softmax and its logarithm ----------------------------===//
#include "dialect/ops/Softmax.h"
#include "dialect/Accuracy.h"
#include "dialect/Adjoint.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Math.h"

using namespace mlir;
using namespace mp;

/// Whether the tensor has no elements, and so no largest one along a dimension.
static bool isEmpty(Value x) {
  return llvm::is_contained(tensorType(x).getShape(), 0);
}

Expression mp::softmaxFor(Type rounding, Expression x, int64_t dim) {
  if (isEmpty(x))
    return x;
  Expression weight =
      expFor(rounding, minusLargest(x, dim), ExpArgument::NotPositive);
  // One reciprocal per row replaces a division per element. The sum is at least
  // 1, so this costs half a unit in the last place and cannot overflow.
  Value total = sumOver(weight, dim);
  auto &b = x.builder();
  return weight * Expression(b, ReciprocalOp::create(b, total));
}

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  return {softmaxFor(elementType(getResult()), {b, operands[0]}, getDim())};
}
SmallVector<Value> SoftmaxBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                ValueRange operands) {
  auto [gradient, probability] = expressions<2>(b, operands);
  Expression weighted = gradient * probability;
  return {weighted - probability * sumOver(weighted, getDim())};
}
SmallVector<Value> SoftmaxOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return {SoftmaxBackwardOp::create(b, g[0], getResult(), getDim())};
}

SmallVector<Value> LogSoftmaxOp::decompose(ImplicitLocOpBuilder &b,
                                           ValueRange operands) {
  if (isEmpty(operands[0]))
    return {operands[0]};
  Expression x = minusLargest({b, operands[0]}, getDim());
  Expression weight =
      expFor(elementType(getResult()), x, ExpArgument::NotPositive);
  return {x - log(sumOver(weight, getDim()))};
}
SmallVector<Value> LogSoftmaxBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                   ValueRange operands) {
  auto [gradient, logProbability] = expressions<2>(b, operands);
  Expression probability = exp(logProbability);
  return {gradient - probability * sumOver(gradient, getDim())};
}
SmallVector<Value> LogSoftmaxOp::buildGradients(ImplicitLocOpBuilder &b,
                                                ValueRange g) {
  return {LogSoftmaxBackwardOp::create(b, g[0], getResult(), getDim())};
}

SmallVector<Value> SoftmaxBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                     ValueRange g) {
  return differentiateParts(*this, b, g);
}
SmallVector<Value> LogSoftmaxBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                        ValueRange g) {
  return differentiateParts(*this, b, g);
}

static std::vector<OpSample> samples(StringRef op) {
  return {{{{"tensor<3x5xf64>", -2, 2}},
           (op + " %0 dim(1) : tensor<3x5xf64>").str()},
          {{{"tensor<3x5xf64>", -2, 2}},
           (op + " %0 dim(0) : tensor<3x5xf64>").str()}};
}
std::vector<OpSample> SoftmaxOp::sampleInputs() {
  return samples("mp.softmax");
}
std::vector<OpSample> LogSoftmaxOp::sampleInputs() {
  return samples("mp.log_softmax");
}
static std::vector<OpSample> backwardSamples(StringRef op, double low,
                                             double high) {
  return {{{{"tensor<3x5xf64>"}, {"tensor<3x5xf64>", low, high}},
           (op + " %0, %1 dim(1) : tensor<3x5xf64>, tensor<3x5xf64>").str()}};
}
std::vector<OpSample> SoftmaxBackwardOp::sampleInputs() {
  return backwardSamples("mp.softmax_backward", 0.1, 0.9);
}
std::vector<OpSample> LogSoftmaxBackwardOp::sampleInputs() {
  return backwardSamples("mp.log_softmax_backward", -3, 0);
}
