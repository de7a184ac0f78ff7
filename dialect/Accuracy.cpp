//===- Accuracy.cpp - what a function's result is for ---------------------===//
#include "dialect/Accuracy.h"
#include "dialect/ReductionRules.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mp;

bool mp::isNarrowFloat(Type type) { return type.isBF16() || type.isF16(); }

Expression mp::expFor(Type rounding, Expression x, ExpArgument argument) {
  Expression result = exp(x);
  Operation *op = Value(result).getDefiningOp();
  Builder b(op->getContext());
  if (isNarrowFloat(rounding))
    op->setAttr(kRoundsToAttr, TypeAttr::get(rounding));
  if (argument != ExpArgument::Any)
    op->setAttr(kArgumentAttr, b.getI32IntegerAttr(int32_t(argument)));
  return result;
}

Expression mp::exp2For(Type rounding, Expression x) {
  auto op = math::Exp2Op::create(x.builder(), Value(x));
  op->setAttr(kRoundsToAttr, TypeAttr::get(rounding));
  return {x.builder(), op.getResult()};
}

Expression mp::largestOver(Expression x, int64_t dim) {
  Expression largest = maxOver(x, dim);
  Operation *op = Value(largest).getDefiningOp();
  op->setAttr(kAnyWithNaNAttr, UnitAttr::get(op->getContext()));
  return largest;
}
Expression mp::minusLargest(Expression x, int64_t dim) {
  return x - largestOver(x, dim);
}
