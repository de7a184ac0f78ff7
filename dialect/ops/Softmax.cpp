//===- Softmax.cpp - softmax and its logarithm ----------------------------===//
#include "dialect/ops/Softmax.h"
#include "dialect/Adjoint.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Reduction.h"

using namespace mlir;
using namespace mp;

static LogicalResult inferSoftmax(std::optional<Location> location,
                                  ValueRange operands, int64_t dim,
                                  SmallVectorImpl<Type> &types) {
  auto type = inferElementwise(location, operands);
  if (failed(type))
    return failure();
  if (dim < 0 || dim >= type->getRank())
    return emitOptionalError(location, "dimension ", dim,
                             " is outside of rank ", type->getRank());
  types.push_back(*type);
  return success();
}

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    return inferSoftmax(location, adaptor.getOperands(), adaptor.getDim(),     \
                        types);                                                \
  }
MP_INFER(SoftmaxOp)
MP_INFER(SoftmaxBackwardOp)
MP_INFER(LogSoftmaxOp)
MP_INFER(LogSoftmaxBackwardOp)
#undef MP_INFER

/// Whether there is no element, and so no largest one along a dimension.
static bool isEmpty(Value x) {
  return llvm::is_contained(tensorType(x).getShape(), 0);
}
/// x minus its largest element along `dim`.
static Value shifted(ImplicitLocOpBuilder &b, Value x, int64_t dim) {
  Value largest = MaxOp::create(b, x, ArrayRef<int64_t>{dim}, true);
  return SubOp::create(b, x, largest);
}
static Value sumAlong(ImplicitLocOpBuilder &b, Value x, int64_t dim) {
  return SumOp::create(b, x, ArrayRef<int64_t>{dim}, true);
}

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  if (isEmpty(operands[0]))
    return {operands[0]};
  Value weight = ExpOp::create(b, shifted(b, operands[0], getDim()));
  // A reciprocal for a row, not a division for each element; the sum is at
  // least 1, so it loses half a unit in the last place and no range.
  Value share = ReciprocalOp::create(b, sumAlong(b, weight, getDim()));
  return {MulOp::create(b, weight, share)};
}
SmallVector<Value> SoftmaxBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                ValueRange operands) {
  Value g = operands[0], y = operands[1];
  Value weighted = MulOp::create(b, g, y);
  Value inner = MulOp::create(b, y, sumAlong(b, weighted, getDim()));
  return {SubOp::create(b, weighted, inner)};
}
SmallVector<Value> SoftmaxOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return {SoftmaxBackwardOp::create(b, g[0], getResult(), getDim())};
}

SmallVector<Value> LogSoftmaxOp::decompose(ImplicitLocOpBuilder &b,
                                           ValueRange operands) {
  if (isEmpty(operands[0]))
    return {operands[0]};
  Value x = shifted(b, operands[0], getDim());
  Value total = sumAlong(b, ExpOp::create(b, x), getDim());
  return {SubOp::create(b, x, LogOp::create(b, total))};
}
SmallVector<Value> LogSoftmaxBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                   ValueRange operands) {
  Value g = operands[0], weight = ExpOp::create(b, operands[1]);
  return {
      SubOp::create(b, g, MulOp::create(b, weight, sumAlong(b, g, getDim())))};
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
