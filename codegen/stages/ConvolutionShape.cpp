//===- ConvolutionShape.cpp - convolutions, for any target ----------------===//
#include "codegen/stages/ConvolutionShape.h"

#include <numeric>

using namespace mlir;
using namespace mp;

/// The axis of a convolution from `size` elements to `places`.
static SlideAxis forward(const WindowDim &window, int64_t size,
                         int64_t places) {
  SlideAxis axis{
      .places = places, .toSize = places, .taps = window.size, .size = size};
  axis.step = window.stride;
  axis.first = -window.low;
  axis.dilation = window.dilation;
  return axis;
}

/// The axes of the gradient of `size` elements from that of `places`: element
/// `stride * p + residue` is reached by tap t from place
/// p + (residue + low - t * dilation) / stride, where this is whole. Taps are
/// in the order of these places, so the last comes first.
static SmallVector<SlideAxis> backward(const WindowDim &window, int64_t size,
                                       int64_t places) {
  SmallVector<SlideAxis> axes;
  int64_t common = std::gcd(window.stride, window.dilation);
  for (int64_t residue = 0; residue < std::min(window.stride, size);
       ++residue) {
    SlideAxis axis{.places =
                       (size - residue + window.stride - 1) / window.stride,
                   .toFirst = residue,
                   .toStep = window.stride,
                   .toSize = size,
                   .taps = 0,
                   .size = places};
    auto offset = [&](int64_t tap) {
      return residue + window.low - tap * window.dilation;
    };
    for (int64_t tap = window.size - 1; tap >= 0; --tap) {
      if (offset(tap) % window.stride != 0)
        continue;
      if (axis.taps++ == 0) {
        axis.tapFirst = tap;
        axis.first = offset(tap) / window.stride;
      }
    }
    axis.tapStep = -window.stride / common;
    axis.dilation = window.dilation / common;
    axes.push_back(axis);
  }
  return axes;
}

/// Sets what does not depend on the direction: `source` and `result` are the
/// images, `in` the channels of a group of the source.
static void setChannels(SlidingProduct &product, RankedTensorType source,
                        RankedTensorType result,
                        std::optional<uint64_t> groups) {
  product.images = source.getDimSize(0);
  product.groups = groups.value_or(1);
  product.in = source.getDimSize(3) / product.groups;
  product.out = result.getDimSize(3) / product.groups;
}

/// The weight is [group, out, row, column, in] of the convolution.
static void setWeight(SlidingProduct &product, const Window &window, int64_t in,
                      int64_t out, bool backward) {
  int64_t row = window[1].size * in, channel = window[0].size * row;
  product.weight = {.group = out * channel,
                    .row = row,
                    .column = in,
                    .in = 1,
                    .out = channel};
  if (backward)
    std::swap(product.weight.in, product.weight.out);
}

static SlidingProduct forwardProduct(const Window &window,
                                     RankedTensorType input,
                                     RankedTensorType result,
                                     std::optional<uint64_t> groups) {
  SlidingProduct product;
  setChannels(product, input, result, groups);
  setWeight(product, window, product.in, product.out, /*backward=*/false);
  product.rows = forward(window[0], input.getDimSize(1), result.getDimSize(1));
  product.columns =
      forward(window[1], input.getDimSize(2), result.getDimSize(2));
  return product;
}

SlidingProduct mp::productOf(Conv2dOp op) {
  Window window = windowOf(op, op.getWeight().getType().getShape().slice(1, 2));
  return forwardProduct(window, op.getInput().getType(), op.getType(),
                        op.getGroups());
}

SlidingProduct mp::productOf(Conv2dBackwardWeightOp op) {
  return forwardProduct(windowOf(op, op.getSize()), op.getInput().getType(),
                        op.getGradient().getType(), op.getGroups());
}

SmallVector<SlidingProduct> mp::productsOf(Conv2dBackwardInputOp op) {
  Window window = windowOf(op, op.getWeight().getType().getShape().slice(1, 2));
  auto gradient = op.getGradient().getType();
  SmallVector<SlidingProduct> products;
  for (const SlideAxis &rows :
       backward(window[0], op.getSize()[0], gradient.getDimSize(1)))
    for (const SlideAxis &columns :
         backward(window[1], op.getSize()[1], gradient.getDimSize(2))) {
      SlidingProduct product;
      setChannels(product, gradient, op.getType(), op.getGroups());
      setWeight(product, window, product.out, product.in, /*backward=*/true);
      product.rows = rows;
      product.columns = columns;
      products.push_back(product);
    }
  return products;
}

bool mp::isPointwise(const SlidingProduct &product) {
  auto isWhole = [](const SlideAxis &axis) {
    return axis.taps == 1 && axis.step == 1 && axis.first == 0 &&
           axis.toStep == 1 && axis.places == axis.size &&
           axis.places == axis.toSize;
  };
  return product.groups == 1 && isWhole(product.rows) &&
         isWhole(product.columns);
}
