//===- UpsampleShape.cpp - images in another size, for any target ---------===//
#include "codegen/stages/UpsampleShape.h"

using namespace mlir;
using namespace mp;

Upsample mp::upsampleOf(Operation *op) {
  auto from = tensorType(op->getOperand(0)), to = tensorType(op->getResult(0));
  Upsample upsample;
  upsample.isBackward =
      isa<UpsampleNearestBackwardOp, UpsampleBilinearBackwardOp>(op);
  upsample.isBilinear = isa<UpsampleBilinearOp, UpsampleBilinearBackwardOp>(op);
  if (auto bilinear = dyn_cast<UpsampleBilinearOp>(op))
    upsample.alignsCorners = bilinear.getAlignCorners();
  if (auto bilinear = dyn_cast<UpsampleBilinearBackwardOp>(op))
    upsample.alignsCorners = bilinear.getAlignCorners();
  upsample.images = to.getDimSize(0);
  upsample.channels = to.getDimSize(3);
  if (upsample.isBackward)
    std::swap(from, to);
  for (auto [dim, elements, places] :
       llvm::zip_equal(upsample.dims, middleOf(from), middleOf(to)))
    dim = {elements, places};
  return upsample;
}

WindowSum mp::windowSumOf(WindowSumOp op) {
  auto type = op.getType();
  int64_t size = type.getShape().back(), low = op.getLow(),
          high = int64_t(op.getSize()) - 1 - low;
  // Nothing lies further than the other end.
  return {type.getNumElements() / size, size, std::min(low, size - 1),
          std::min(high, size - 1)};
}
