//===- Upsample.cpp - images in another size ------------------------------===//
//
// Each op is linear, and the adjoint of its backward op.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Upsample.h"
#include "dialect/PoolingRules.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Type rules and loops
//===----------------------------------------------------------------------===//

static LogicalResult inferResized(std::optional<Location> location,
                                  Value images, StringRef what,
                                  ArrayRef<int64_t> size,
                                  SmallVectorImpl<Type> &types) {
  auto type = tensorType(images);
  if (failed(checkImages(location, type, what)) ||
      failed(checkSize(location, "size", size)))
    return failure();
  types.push_back(resized(type, size));
  return success();
}

#define MP_UPSAMPLE(OP, OPERAND, WHAT)                                         \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    return inferResized(location, adaptor.OPERAND(), WHAT, adaptor.getSize(),  \
                        types);                                                \
  }                                                                            \
  Value OP::buildWithoutLoop(ImplicitLocOpBuilder &b) {                        \
    return withoutImageLoop(b, *this);                                         \
  }
MP_UPSAMPLE(UpsampleNearestOp, getInput, "input")
MP_UPSAMPLE(UpsampleNearestBackwardOp, getGradient, "gradient")
MP_UPSAMPLE(UpsampleBilinearOp, getInput, "input")
MP_UPSAMPLE(UpsampleBilinearBackwardOp, getGradient, "gradient")
#undef MP_UPSAMPLE

// What is copied, or lies between pixels, is bounded as one term is.
std::optional<int64_t> UpsampleNearestOp::getTermCount() { return 1; }
std::optional<int64_t> UpsampleBilinearOp::getTermCount() { return 1; }

/// How many pixels along a dimension have a part of one, at most: those within
/// `reach` pixels of the other size.
static int64_t countParts(RankedTensorType images, RankedTensorType result,
                          int64_t reach) {
  int64_t count = 1;
  for (auto [from, to] : llvm::zip_equal(middleOf(images), middleOf(result)))
    count *= std::min<int64_t>(from, reach * (llvm::divideCeil(from, to) + 1));
  return count;
}
std::optional<int64_t> UpsampleNearestBackwardOp::getTermCount() {
  return countParts(getGradient().getType(), getType(), 1);
}
std::optional<int64_t> UpsampleBilinearBackwardOp::getTermCount() {
  return countParts(getGradient().getType(), getType(), 2);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static DenseI64ArrayAttr sizeOf(ImplicitLocOpBuilder &b, Value images) {
  return b.getDenseI64ArrayAttr(middleOf(tensorType(images)));
}

Gradients UpsampleNearestOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  return {UpsampleNearestBackwardOp::create(b, g[0], sizeOf(b, getInput()))};
}
Gradients UpsampleNearestBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                    ValueRange g) {
  return {UpsampleNearestOp::create(b, g[0], sizeOf(b, getGradient()))};
}
Gradients UpsampleBilinearOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return {UpsampleBilinearBackwardOp::create(b, g[0], sizeOf(b, getInput()),
                                             getAlignCornersAttr())};
}
Gradients UpsampleBilinearBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                     ValueRange g) {
  return {UpsampleBilinearOp::create(b, g[0], sizeOf(b, getGradient()),
                                     getAlignCornersAttr())};
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static OpSample sample(StringRef text, StringRef images) {
  std::string type = ("tensor<" + images + "xf64>").str();
  return {{{type}}, (text + " : " + type).str()};
}

std::vector<OpSample> UpsampleNearestOp::sampleInputs() {
  return {sample("mp.upsample_nearest %0 size[4, 7]", "1x2x3x8"),
          sample("mp.upsample_nearest %0 size[2, 5]", "1x5x3x2")};
}
std::vector<OpSample> UpsampleNearestBackwardOp::sampleInputs() {
  return {sample("mp.upsample_nearest_backward %0 size[2, 3]", "1x4x7x8")};
}
std::vector<OpSample> UpsampleBilinearOp::sampleInputs() {
  return {
      sample("mp.upsample_bilinear %0 size[4, 7]", "1x2x3x8"),
      sample("mp.upsample_bilinear %0 size[5, 2] align_corners", "1x3x5x2")};
}
std::vector<OpSample> UpsampleBilinearBackwardOp::sampleInputs() {
  return {sample("mp.upsample_bilinear_backward %0 size[2, 3]", "1x4x7x8"),
          sample("mp.upsample_bilinear_backward %0 size[5, 2] align_corners",
                 "1x3x5x2")};
}
