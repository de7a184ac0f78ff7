//===- AttentionShape.cpp - attention, for any target ---------------------===//
#include "codegen/stages/AttentionShape.h"

using namespace mlir;
using namespace mp;

/// The distances of neighbours along the last four dimensions.
static std::array<int64_t, 4> stridesOf(RankedTensorType type) {
  std::array<int64_t, 4> strides{};
  int64_t stride = 1;
  for (int64_t dim = type.getRank() - 1, place = 3; dim >= 0; --dim, --place) {
    int64_t size = type.getDimSize(dim);
    strides[place] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}

template <typename Op> static AttentionShape sizesOf(Op op) {
  auto query = tensorType(op.getQuery()).getShape(),
       key = tensorType(op.getKey()).getShape();
  AttentionShape shape{};
  shape.batch = query[0];
  shape.tokens = query[1];
  shape.heads = query[2];
  shape.depth = query[3];
  shape.keys = key[1];
  shape.groups = key[2];
  shape.width = tensorType(op.getValue()).getDimSize(3);
  shape.scale = op.getScale() ? op.getScale()->convertToDouble()
                              : 1 / std::sqrt(double(shape.depth));
  shape.offset = op.getQueryOffset().value_or(0);
  shape.causal = op.getCausal();
  if (auto window = op.getWindow())
    shape.window = *window;
  if (op.getMask())
    shape.mask = stridesOf(tensorType(op.getMask()));
  if (auto p = op.getDropoutP())
    shape.dropout = p->convertToDouble();
  return shape;
}

AttentionShape mp::shapeOf(ScaledDotProductAttentionOp op) {
  return sizesOf(op);
}
AttentionShape mp::shapeOf(ScaledDotProductAttentionBackwardOp op) {
  return sizesOf(op);
}

uint64_t AttentionShape::flops(unsigned products) const {
  uint64_t pairs = 0;
  for (int64_t query = 0; query < tokens; ++query) {
    int64_t place = query + offset, first = 0, last = keys;
    if (auto back = reachBack())
      first = std::clamp<int64_t>(place - *back, 0, keys);
    if (auto ahead = reachAhead())
      last = std::clamp<int64_t>(place + *ahead + 1, 0, keys);
    pairs += std::max<int64_t>(last - first, 0);
  }
  // Half of the products have `depth` terms or columns, half have `width`.
  return pairs * batch * heads * products * (depth + width);
}
