//===- UpsampleShape.h - images in another size, for any target -*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_UPSAMPLESHAPE_H
#define MP_CODEGEN_STAGES_UPSAMPLESHAPE_H

#include "dialect/PoolingRules.h"
#include "dialect/ops/LocalResponseNorm.h"
#include "dialect/ops/Upsample.h"

namespace mp {

/// An image of `elements` pixels along a dimension, and one of `places`.
struct Upsample {
  struct Dim {
    int64_t elements, places;
  };
  int64_t images, channels;
  std::array<Dim, 2> dims; ///< height and width
  bool isBilinear = false, alignsCorners = false;
  bool isBackward = false; ///< the gradient of the elements from the places
};
Upsample upsampleOf(mlir::Operation *op);

/// Sums along the last dimension of [rows, size]: element i sums those from
/// i - low to i + high.
struct WindowSum {
  int64_t rows, size, low, high;
};
WindowSum windowSumOf(WindowSumOp op);

} // namespace mp

#endif // MP_CODEGEN_STAGES_UPSAMPLESHAPE_H
