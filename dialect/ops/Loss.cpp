//===- Loss.cpp - losses of one tensor against another --------------------===//
#include "dialect/ops/Loss.h"
#include "dialect/Adjoint.h"
#include "dialect/LossRules.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult MseLossOp::verify() {
  return checkNoBatchMean(*this, getReduction());
}
LogicalResult L1LossOp::verify() {
  return checkNoBatchMean(*this, getReduction());
}
LogicalResult SmoothL1LossOp::verify() {
  double beta = getBeta().convertToDouble();
  if (!(beta >= 0 && std::isfinite(beta)))
    return emitOpError() << "beta is " << beta << ", expected 0 or more";
  return checkNoBatchMean(*this, getReduction());
}
LogicalResult HuberLossOp::verify() {
  double delta = getDelta().convertToDouble();
  if (!(delta > 0 && std::isfinite(delta)))
    return emitOpError() << "delta is " << delta << ", expected more than 0";
  return checkNoBatchMean(*this, getReduction());
}
LogicalResult KlDivOp::verify() {
  bool hasRows =
      getInput().getType().getRank() > 0 || getTarget().getType().getRank() > 0;
  if (getReduction() == LossReduction::batchmean && !hasRows)
    return emitOpError() << "has no leading dimension that "
                            "reduction(batchmean) could divide by";
  return success();
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// The loss as a reduction of the losses of `count` elements.
static SmallVector<Value> reduceOver(Expression each, LossReduction reduction,
                                     int64_t count) {
  return {reduceLoss(each, reduction, each.number(count))};
}
/// The same, with a mean over all elements.
static SmallVector<Value> reduce(Expression each, LossReduction reduction) {
  return reduceOver(each, reduction, tensorType(each).getNumElements());
}

SmallVector<Value> MseLossOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  auto [input, target] = expressions<2>(b, operands);
  Expression difference = input - target;
  return reduce(difference * difference, getReduction());
}

SmallVector<Value> L1LossOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  auto [input, target] = expressions<2>(b, operands);
  return reduce(abs(input - target), getReduction());
}

namespace {
/// With z the distance and near = min(z, bound), near * rest is z^2 / 2 up to
/// the bound and bound * (z - bound / 2) beyond. Its derivative by z through
/// rest is near; that through near is zero on both sides, so nothing cancels.
struct BoundedDistance {
  BoundedDistance(Expression input, Expression target, double bound) {
    Expression distance = abs(input - target);
    near = min(distance, bound);
    rest = distance - near * 0.5;
  }
  Expression near, rest;
};
} // namespace

SmallVector<Value> SmoothL1LossOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  auto [input, target] = expressions<2>(b, operands);
  double beta = getBeta().convertToDouble();
  if (beta == 0)
    return reduce(abs(input - target), getReduction());
  BoundedDistance z(input, target, beta);
  return reduce(z.near / beta * z.rest, getReduction());
}

SmallVector<Value> HuberLossOp::decompose(ImplicitLocOpBuilder &b,
                                          ValueRange operands) {
  auto [input, target] = expressions<2>(b, operands);
  BoundedDistance z(input, target, getDelta().convertToDouble());
  return reduce(z.near * z.rest, getReduction());
}

SmallVector<Value> KlDivOp::decompose(ImplicitLocOpBuilder &b,
                                      ValueRange operands) {
  auto [input, target] = expressions<2>(b, operands);
  Expression each;
  if (getLogTarget()) {
    Expression difference = target - input;
    each = exp(target) * difference;
  } else {
    Expression zero = target.number(0);
    Expression isZero = target == zero;
    Expression entropy = select(isZero, zero, target * log(target));
    each = entropy - target * input;
  }
  if (getReduction() == LossReduction::batchmean)
    return reduceOver(each, LossReduction::mean,
                      tensorType(each).getDimSize(0));
  return reduce(each, getReduction());
}

//===----------------------------------------------------------------------===//
// Gradients, which follow from the parts
//===----------------------------------------------------------------------===//

#define MP_GRADIENT(OP)                                                        \
  SmallVector<Value> OP::buildGradients(ImplicitLocOpBuilder &b,               \
                                        ValueRange g) {                        \
    return differentiateParts(*this, b, g);                                    \
  }
MP_GRADIENT(MseLossOp)
MP_GRADIENT(L1LossOp)
MP_GRADIENT(SmoothL1LossOp)
MP_GRADIENT(HuberLossOp)
MP_GRADIENT(KlDivOp)
#undef MP_GRADIENT

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Pairs that are far enough apart to avoid the kink at zero, with all
/// reductions.
static std::vector<OpSample> samples(StringRef op, StringRef settings = "") {
  OperandSample input{"tensor<3x5xf64>", 1, 3},
      target{"tensor<3x5xf64>", -3, 0};
  std::vector<OpSample> all;
  for (const char *reduction : {"", " reduction(sum)", " reduction(none)"})
    all.push_back({{input, target},
                   (op + " %0, %1" + reduction + settings +
                    " : tensor<3x5xf64>, tensor<3x5xf64>")
                       .str()});
  target.type = "tensor<5xf64>";
  all.push_back(
      {{input, target},
       (op + " %0, %1" + settings + " : tensor<3x5xf64>, tensor<5xf64>")
           .str()});
  return all;
}

std::vector<OpSample> MseLossOp::sampleInputs() {
  return samples("mp.mse_loss");
}
std::vector<OpSample> L1LossOp::sampleInputs() { return samples("mp.l1_loss"); }
// The distances lie on both sides of the bounds.
std::vector<OpSample> SmoothL1LossOp::sampleInputs() {
  return samples("mp.smooth_l1_loss", " {beta = 3.1}");
}
std::vector<OpSample> HuberLossOp::sampleInputs() {
  return samples("mp.huber_loss", " {delta = 2.9}");
}
std::vector<OpSample> KlDivOp::sampleInputs() {
  OperandSample input{"tensor<3x5xf64>", -3, 0}, target = input;
  std::vector<OpSample> all;
  for (const char *form :
       {" reduction(batchmean) {log_target}", " reduction(none) {log_target}"})
    all.push_back({{input, target},
                   std::string("mp.kl_div %0, %1") + form +
                       " : tensor<3x5xf64>, tensor<3x5xf64>"});
  target.low = 0.1, target.high = 0.9;
  for (const char *form : {" reduction(batchmean)", "", " reduction(sum)"})
    all.push_back({{input, target},
                   std::string("mp.kl_div %0, %1") + form +
                       " : tensor<3x5xf64>, tensor<3x5xf64>"});
  return all;
}
