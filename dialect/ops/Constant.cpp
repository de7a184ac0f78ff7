//===- Constant.cpp - values from nothing ---------------------------------===//
#include "dialect/ops/Constant.h"

using namespace mlir;
using namespace mp;

void ConstantOp::build(OpBuilder &builder, OperationState &state,
                       RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute scalar;
  if (isa<FloatType>(element))
    scalar = builder.getFloatAttr(element, value);
  else
    scalar = IntegerAttr::get(element, static_cast<int64_t>(value));
  build(builder, state, type,
        cast<ElementsAttr>(DenseElementsAttr::get(type, scalar)));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dimension " << dim << " is outside of rank "
                         << rank;
  return success();
}
