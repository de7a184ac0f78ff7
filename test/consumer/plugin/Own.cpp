//===- Own.cpp - what the ops of the dialect own compute ------------------===//
#include "Own.h"
#include "dialect/Expression.h"

using namespace mlir;
using mp::Expression;

#include "OwnDialect.cpp.inc"

#define GET_OP_CLASSES
#include "Own.cpp.inc"

void own::OwnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Own.cpp.inc"
      >();
}

// One element, in the compute type. Both targets are generated from it.
SmallVector<Value> own::SoftsignOp::buildScalars(ImplicitLocOpBuilder &b,
                                                 ValueRange operands) {
  Expression x(b, operands[0]);
  return {x / (1 + abs(x))};
}
SmallVector<Value>
own::SoftsignBackwardOp::buildScalars(ImplicitLocOpBuilder &b,
                                      ValueRange operands) {
  auto [gradient, x] = mp::expressions<2>(b, operands);
  Expression denominator = 1 + abs(x);
  return {gradient / (denominator * denominator)};
}

SmallVector<Value> own::SoftsignOp::buildGradients(ImplicitLocOpBuilder &b,
                                                   ValueRange gradients) {
  return {SoftsignBackwardOp::create(b, gradients[0], getInput())};
}
std::vector<mp::OpSample> own::SoftsignOp::sampleInputs() {
  return {
      {{{"tensor<2x3xf64>", -3, 3, 0.1}}, "own.softsign %0 : tensor<2x3xf64>"}};
}
