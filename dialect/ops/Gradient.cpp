//===- Gradient.cpp - gradients as values ---------------------------------===//
#include "dialect/ops/Gradient.h"

using namespace mlir;
using namespace mp;

LogicalResult GradientOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getSources().getTypes());
  return success();
}

LogicalResult GradientOp::verify() {
  if (getSources().empty())
    return emitOpError() << "names nothing to differentiate by: write of %x";
  return success();
}

/// Each gradient has the rows of its source.
FailureOr<BatchMultiples> GradientOp::inferMultiples(MultipleOf multipleOf) {
  BatchMultiples multiples;
  for (Value source : getSources())
    multiples.push_back(multipleOf(source));
  return multiples;
}
