//===- Autocast.cpp - regions of a precision of their own -----------------===//
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Kernel.h"

using namespace mlir;
using namespace mp;

LogicalResult AutocastOp::verify() {
  if (auto type = getDtype();
      type && !isa<Float16Type, BFloat16Type, FloatTF32Type>(*type))
    return emitOpError() << "has dtype " << *type
                         << ", expected f16, bf16 or tf32";
  return success();
}

LogicalResult AutocastOp::verifyRegions() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getOperandTypes() == getResultTypes())
    return success();
  auto error = emitOpError() << "has results of " << getResultTypes();
  error.attachNote(yield.getLoc()) << "and yields " << yield.getOperandTypes();
  return error;
}

FailureOr<BatchMultiples> AutocastOp::inferMultiples(MultipleOf multipleOf) {
  BatchMultiples multiples;
  for (Value yielded : getBody().front().getTerminator()->getOperands())
    multiples.push_back(multipleOf(yielded));
  return multiples;
}
