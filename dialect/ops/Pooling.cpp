//===- Pooling.cpp - maxima and means of windows --------------------------===//
//
// A maximum is found twice: as a value, and in the gradient as the number of an
// element, which takes a byte and not the eight of PyTorch's indices. With the
// number fixed, pooling is linear: mp.max_pool2d_at and mp.max_pool2d_backward
// are adjoints, and so are a mean and its gradient.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Pooling.h"
#include "dialect/PoolingRules.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// The rule of what pools images by a window.
template <typename Adaptor>
static LogicalResult inferWindowed(std::optional<Location> location,
                                   Adaptor adaptor,
                                   SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  if (failed(checkImages(location, input)))
    return failure();
  auto dims = makePool(location, middleOf(input), poolListsOf(adaptor),
                       adaptor.getCeilMode());
  if (failed(dims))
    return failure();
  types.push_back(resized(input, {(*dims)[0].places, (*dims)[1].places}));
  return success();
}

template <typename Adaptor>
static LogicalResult inferAdaptive(std::optional<Location> location,
                                   Adaptor adaptor,
                                   SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  if (failed(checkImages(location, input)) ||
      failed(checkSize(location, "size", adaptor.getSize())) ||
      failed(makePool(location, middleOf(input), adaptor.getSize(), {})))
    return failure();
  types.push_back(resized(input, adaptor.getSize()));
  return success();
}

/// The rule of what maps the places of a pool to its elements.
template <typename Adaptor>
static LogicalResult inferBackward(std::optional<Location> location,
                                   Adaptor adaptor,
                                   SmallVectorImpl<Type> &types) {
  auto gradient = tensorType(adaptor.getGradient());
  if (failed(checkImages(location, gradient, "gradient")) ||
      failed(checkSize(location, "size", adaptor.getSize())) ||
      failed(makePool(location, adaptor.getSize(), middleOf(gradient),
                      poolListsOf(adaptor))))
    return failure();
  types.push_back(resized(gradient, adaptor.getSize()));
  return success();
}

/// The index has the shape of the places.
static LogicalResult checkIndex(std::optional<Location> location,
                                RankedTensorType index, RankedTensorType places,
                                StringRef what) {
  if (index.getShape() == places.getShape())
    return success();
  return emitOptionalError(location, "index ", index, " does not have the ",
                           "shape of ", what, " ", places);
}

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      [[maybe_unused]] MLIRContext *context, std::optional<Location> location, \
      Adaptor adaptor, SmallVectorImpl<Type> &types)
MP_INFER(MaxPool2dOp) { return inferWindowed(location, adaptor, types); }
MP_INFER(AvgPool2dOp) { return inferWindowed(location, adaptor, types); }
MP_INFER(AdaptiveMaxPool2dOp) {
  return inferAdaptive(location, adaptor, types);
}
MP_INFER(AdaptiveAvgPool2dOp) {
  return inferAdaptive(location, adaptor, types);
}
MP_INFER(AvgPool2dBackwardOp) {
  return inferBackward(location, adaptor, types);
}
MP_INFER(MaxPool2dBackwardOp) {
  if (failed(inferBackward(location, adaptor, types)))
    return failure();
  return checkIndex(location, tensorType(adaptor.getIndex()),
                    tensorType(adaptor.getGradient()), "the gradient");
}
MP_INFER(MaxPool2dIndexOp) {
  auto input = tensorType(adaptor.getInput());
  if (failed(checkImages(location, input)) ||
      failed(checkSize(location, "places", adaptor.getPlaces())))
    return failure();
  auto dims = makePool(location, middleOf(input), adaptor.getPlaces(),
                       poolListsOf(adaptor));
  if (failed(dims))
    return failure();
  constexpr int64_t bytes = 256;
  Builder b(context);
  Type element = (*dims)[0].taps() * (*dims)[1].taps() <= bytes
                     ? b.getIntegerType(8, /*isSigned=*/false)
                     : b.getI32Type();
  types.push_back(RankedTensorType::get(
      resized(input, adaptor.getPlaces()).getShape(), element));
  return success();
}
MP_INFER(MaxPool2dAtOp) {
  auto input = tensorType(adaptor.getInput()),
       index = tensorType(adaptor.getIndex());
  if (failed(checkImages(location, input)) ||
      failed(checkImages(location, index, "index")))
    return failure();
  RankedTensorType places = resized(input, middleOf(index));
  if (failed(checkIndex(location, index, places, "the places")) ||
      failed(makePool(location, middleOf(input), middleOf(index),
                      poolListsOf(adaptor))))
    return failure();
  types.push_back(places);
  return success();
}
#undef MP_INFER

//===----------------------------------------------------------------------===//
// Terms and indices
//===----------------------------------------------------------------------===//

/// The pool of a verified op between images of these types.
template <typename Op>
static PoolDims poolOf(Op op, RankedTensorType elements,
                       RankedTensorType places) {
  return *makePool(std::nullopt, middleOf(elements), middleOf(places),
                   poolListsOf(op));
}

// A mean and a maximum lie between the elements, as one term does.
std::optional<int64_t> MaxPool2dOp::getTermCount() { return 1; }
std::optional<int64_t> AdaptiveMaxPool2dOp::getTermCount() { return 1; }
std::optional<int64_t> MaxPool2dIndexOp::getTermCount() { return 1; }
std::optional<int64_t> MaxPool2dAtOp::getTermCount() { return 1; }
std::optional<int64_t> AvgPool2dOp::getTermCount() { return 1; }
std::optional<int64_t> AdaptiveAvgPool2dOp::getTermCount() { return 1; }
/// An element adds something of each place that it belongs to.
static int64_t countCovers(const PoolDims &dims) {
  return dims[0].covers() * dims[1].covers();
}
std::optional<int64_t> MaxPool2dBackwardOp::getTermCount() {
  return countCovers(poolOf(*this, getType(), getGradient().getType()));
}
std::optional<int64_t> AvgPool2dBackwardOp::getTermCount() {
  return countCovers(poolOf(*this, getType(), getGradient().getType()));
}

static std::optional<IndexRange> tapsOf(const PoolDims &dims) {
  return IndexRange{0, dims[0].taps() * dims[1].taps(), std::nullopt};
}
std::optional<IndexRange> MaxPool2dAtOp::getIndexRange(unsigned) {
  return tapsOf(poolOf(*this, getInput().getType(), getType()));
}
std::optional<IndexRange> MaxPool2dBackwardOp::getIndexRange(unsigned) {
  return tapsOf(poolOf(*this, getType(), getGradient().getType()));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The gradient of a maximum.
template <typename Op>
static Gradients routeToMaxima(Op op, ImplicitLocOpBuilder &b, Value gradient,
                               DenseI64ArrayAttr window,
                               DenseI64ArrayAttr strides, DenseI64ArrayAttr low,
                               DenseI64ArrayAttr high,
                               DenseI64ArrayAttr dilations) {
  auto size = b.getDenseI64ArrayAttr(middleOf(op.getInput().getType()));
  auto places = b.getDenseI64ArrayAttr(middleOf(op.getType()));
  Value index = MaxPool2dIndexOp::create(b, op.getInput(), places, window,
                                         strides, low, high, dilations);
  return {MaxPool2dBackwardOp::create(b, gradient, index, size, window, strides,
                                      low, high, dilations)};
}
Gradients MaxPool2dOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return routeToMaxima(*this, b, g[0], getWindowAttr(), getStridesAttr(),
                       getLowAttr(), getHighAttr(), getDilationsAttr());
}
Gradients AdaptiveMaxPool2dOp::buildGradients(ImplicitLocOpBuilder &b,
                                              ValueRange g) {
  return routeToMaxima(*this, b, g[0], {}, {}, {}, {}, {});
}
Gradients MaxPool2dAtOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  auto size = b.getDenseI64ArrayAttr(middleOf(getInput().getType()));
  return {MaxPool2dBackwardOp::create(
              b, g[0], getIndex(), size, getWindowAttr(), getStridesAttr(),
              getLowAttr(), getHighAttr(), getDilationsAttr()),
          Value()};
}
Gradients MaxPool2dBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                              ValueRange g) {
  return {MaxPool2dAtOp::create(b, g[0], getIndex(), getWindowAttr(),
                                getStridesAttr(), getLowAttr(), getHighAttr(),
                                getDilationsAttr()),
          Value()};
}

Gradients AvgPool2dOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  auto size = b.getDenseI64ArrayAttr(middleOf(getInput().getType()));
  return {AvgPool2dBackwardOp::create(b, g[0], size, getWindowAttr(),
                                      getStridesAttr(), getLowAttr(),
                                      getHighAttr(), getExcludePadAttr())};
}
Gradients AdaptiveAvgPool2dOp::buildGradients(ImplicitLocOpBuilder &b,
                                              ValueRange g) {
  auto size = b.getDenseI64ArrayAttr(middleOf(getInput().getType()));
  DenseI64ArrayAttr none;
  return {AvgPool2dBackwardOp::create(b, g[0], size, none, none, none, none,
                                      UnitAttr())};
}
Gradients AvgPool2dBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                              ValueRange g) {
  auto places = middleOf(getGradient().getType());
  if (!getWindow())
    return {
        AdaptiveAvgPool2dOp::create(b, g[0], b.getDenseI64ArrayAttr(places))};
  auto floor = makePool(std::nullopt, getSize(), poolListsOf(*this),
                        /*ceilMode=*/false);
  bool isFloor = succeeded(floor) && (*floor)[0].places == places[0] &&
                 (*floor)[1].places == places[1];
  return {AvgPool2dOp::create(b, g[0], getWindowAttr(), getStridesAttr(),
                              getLowAttr(), getHighAttr(), getExcludePadAttr(),
                              isFloor ? UnitAttr() : b.getUnitAttr())};
}

//===----------------------------------------------------------------------===//
// Operands that main loops do not support
//===----------------------------------------------------------------------===//

#define MP_WITHOUT_LOOP(OP)                                                    \
  Value OP::buildWithoutLoop(ImplicitLocOpBuilder &b) {                        \
    return withoutImageLoop(b, *this);                                         \
  }
MP_WITHOUT_LOOP(MaxPool2dOp)
MP_WITHOUT_LOOP(AdaptiveMaxPool2dOp)
MP_WITHOUT_LOOP(MaxPool2dIndexOp)
MP_WITHOUT_LOOP(MaxPool2dAtOp)
MP_WITHOUT_LOOP(MaxPool2dBackwardOp)
MP_WITHOUT_LOOP(AvgPool2dOp)
MP_WITHOUT_LOOP(AdaptiveAvgPool2dOp)
MP_WITHOUT_LOOP(AvgPool2dBackwardOp)
#undef MP_WITHOUT_LOOP

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// An op on images, and on an index of ui8 below `taps` if it takes one.
static OpSample sample(StringRef text, StringRef images, StringRef index = "",
                       int64_t taps = 0) {
  OpSample sample{{{("tensor<" + images + "xf64>").str()}}, text.str()};
  sample.op += " : " + sample.operands[0].type;
  if (index.empty())
    return sample;
  sample.operands.push_back(
      {("tensor<" + index + "xui8>").str(), 0, double(taps)});
  sample.op += ", " + sample.operands[1].type;
  return sample;
}

std::vector<OpSample> MaxPool2dOp::sampleInputs() {
  return {sample("mp.max_pool2d %0 window[2, 2] strides[2, 2]", "1x4x5x8"),
          sample("mp.max_pool2d %0 window[3, 2] strides[2, 1] low[1, 0] "
                 "high[0, 1] dilations[1, 2] ceil_mode",
                 "1x6x5x2")};
}
std::vector<OpSample> AdaptiveMaxPool2dOp::sampleInputs() {
  return {sample("mp.adaptive_max_pool2d %0 size[3, 2]", "2x5x4x3")};
}
std::vector<OpSample> MaxPool2dAtOp::sampleInputs() {
  return {sample("mp.max_pool2d_at %0, %1 window[3, 2] strides[2, 1] "
                 "low[1, 0] high[1, 0]",
                 "1x5x4x8", "1x3x3x8", 6),
          sample("mp.max_pool2d_at %0, %1", "1x5x3x2", "1x2x2x2", 12)};
}
std::vector<OpSample> MaxPool2dBackwardOp::sampleInputs() {
  return {sample("mp.max_pool2d_backward %0, %1 size[5, 4] window[3, 2] "
                 "strides[2, 1] low[1, 0] high[1, 0]",
                 "1x3x3x8", "1x3x3x8", 6),
          sample("mp.max_pool2d_backward %0, %1 size[5, 3]", "1x2x2x2",
                 "1x2x2x2", 12)};
}
std::vector<OpSample> AvgPool2dOp::sampleInputs() {
  return {sample("mp.avg_pool2d %0 window[2, 2] strides[2, 2]", "1x4x5x8"),
          sample("mp.avg_pool2d %0 window[3, 2] strides[2, 1] low[1, 0] "
                 "high[0, 1] exclude_pad ceil_mode",
                 "1x6x5x2"),
          sample("mp.avg_pool2d %0 window[3, 3] strides[2, 2] low[1, 1] "
                 "high[1, 1] ceil_mode",
                 "1x6x4x2")};
}
std::vector<OpSample> AdaptiveAvgPool2dOp::sampleInputs() {
  return {sample("mp.adaptive_avg_pool2d %0 size[3, 2]", "1x5x4x8")};
}
std::vector<OpSample> AvgPool2dBackwardOp::sampleInputs() {
  return {sample("mp.avg_pool2d_backward %0 size[6, 4] window[3, 3] "
                 "strides[2, 2] low[1, 1] high[1, 1]",
                 "1x4x3x2"),
          sample("mp.avg_pool2d_backward %0 size[5, 4]", "1x3x2x8")};
}
