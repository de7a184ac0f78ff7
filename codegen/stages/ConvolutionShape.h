//===- ConvolutionShape.h - convolutions, for any target --------*- C++ -*-===//
//
// The ops of dialect/ops/Convolution.td as sums over the taps of a window. The
// gradient of an input is a convolution of the result's gradient again: one
// for each residue of the stride, with the taps that reach it.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_STAGES_CONVOLUTIONSHAPE_H
#define MP_CODEGEN_STAGES_CONVOLUTIONSHAPE_H

#include "dialect/WindowRules.h"
#include "dialect/ops/Convolution.h"

namespace mp {

/// How a window slides along one dimension. Place p of `places` is element
/// `toFirst + p * toStep` of the result; its tap t of `taps` is element
/// `tapFirst + t * tapStep` of the weight and meets element
/// `p * step + first + t * dilation` of the source, which has `size` elements.
/// Where the source has no such element, the tap adds nothing.
struct SlideAxis {
  int64_t places, toFirst = 0, toStep = 1, toSize;
  int64_t taps, tapFirst = 0, tapStep = 1;
  int64_t step = 1, first = 0, dilation = 1, size;

  int64_t source(int64_t place, int64_t tap) const {
    return place * step + first + tap * dilation;
  }
  /// Whether the taps of all places are elements of the source.
  bool isInside() const {
    return source(0, 0) >= 0 && source(places - 1, taps - 1) < size;
  }
};

/// result[image, places, group, out] = sum over taps and `in` of
/// source[image, ..., group, in] * weight[group, taps, in, out]. Images have
/// their groups' channels last.
struct SlidingProduct {
  int64_t images = 1, groups = 1;
  int64_t in = 1, out = 1; ///< channels of a group
  SlideAxis rows, columns;
  /// Distances of neighbours in the weight.
  struct {
    int64_t group, row, column, in, out;
  } weight;

  int64_t taps() const { return rows.taps * columns.taps; }
  int64_t sourceCount() const {
    return images * rows.size * columns.size * groups * in;
  }
  int64_t resultCount() const {
    return images * rows.toSize * columns.toSize * groups * out;
  }
  uint64_t flops() const {
    return 2 * uint64_t(images) * rows.places * columns.places * groups * in *
           out * taps();
  }
};

SlidingProduct productOf(Conv2dOp op);
/// One for each residue of the strides.
llvm::SmallVector<SlidingProduct> productsOf(Conv2dBackwardInputOp op);

/// The product that op's gradient from the weight belongs to: it sums
/// source[..., in] * result's gradient[..., out] over images and places.
SlidingProduct productOf(Conv2dBackwardWeightOp op);

/// Whether a convolution is a product of two matrices: windows of one element
/// that take every place.
bool isPointwise(const SlidingProduct &product);

} // namespace mp

#endif // MP_CODEGEN_STAGES_CONVOLUTIONSHAPE_H
