//===- Lamb.cpp - LAMB ----------------------------------------------------===//
//
// The length of a step depends on two norms of a whole tensor, so the update
// consists of a direction, two reductions and a product. It has no bound.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Lamb.h"
#include "dialect/UpdateRules.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Optimizer.h"
#include "dialect/ops/Reduction.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

SmallVector<SlotSpec> LambAttr::getSlots() const {
  return {{"exp_avg", 0}, {"exp_avg_sq", 0}};
}

/// The 2-norm, in f32.
static Expression norm(ImplicitLocOpBuilder &b, Value x) {
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
  Value square = Expression(b, x) * Expression(b, x);
  Value sum =
      all.empty() ? square : Value(SumOp::create(b, square, all, false));
  return sqrt(Expression(b, sum).to(b.getF32Type()));
}

SmallVector<Value> LambAttr::buildUpdate(ImplicitLocOpBuilder &b,
                                         Value parameter, Value gradient,
                                         ValueRange slots, Value learningRate,
                                         Value step) const {
  APFloat beta1(getBeta1()), beta2(getBeta2());
  Value correction1 = BiasCorrectionOp::create(b, step, beta1);
  Value correction2 = BiasCorrectionOp::create(b, step, beta2);
  auto direction =
      LambDirectionOp::create(b, parameter, gradient, slots[0], slots[1],
                              correction1, correction2, *this);

  // If a norm is zero or NaN, the ratio is one.
  Expression rate(b, learningRate), old(b, parameter),
      way(b, direction.getDirection());
  Expression zero = rate.number(0), one = rate.number(1);
  Expression own = norm(b, old), of = norm(b, way);
  Expression trust = select(own > zero & of > zero, own / of, one);
  Expression length = (rate * trust).to(elementType(parameter));
  return {old - length * way, direction.getNewExpAvg(),
          direction.getNewExpAvgSq()};
}

//===----------------------------------------------------------------------===//
// The direction
//===----------------------------------------------------------------------===//

SmallVector<Value> LambDirectionOp::buildScalars(ImplicitLocOpBuilder &b,
                                                 ValueRange x) {
  LambAttr lamb = getOptimizer();
  double beta1 = lamb.getBeta1(), beta2 = lamb.getBeta2();
  auto [parameter, gradient, expAvg, expAvgSq, correction1, correction2] =
      expressions<6>(b, x);
  Expression mean = beta1 * expAvg + (1 - beta1) * gradient;
  Expression square = gradient * gradient;
  Expression variance = beta2 * expAvgSq + (1 - beta2) * square;
  Expression unbiased = mean / correction1.toTypeOf(parameter);
  Expression deviation = sqrt(variance / correction2.toTypeOf(parameter));
  Expression ratio = unbiased / (deviation + double(lamb.getEps()));
  return {addDecay(ratio, parameter, lamb.getWeightDecay()), mean, variance};
}
