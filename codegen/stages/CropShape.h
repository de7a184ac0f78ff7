//===- CropShape.h - boxes of images, for any target ------------*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_CROPSHAPE_H
#define MP_CODEGEN_STAGES_CROPSHAPE_H

#include "dialect/PoolingRules.h"
#include "dialect/ops/Augmentation.h"

namespace mp {

/// Images of an mp.crop_resize.
struct CropResize {
  struct Dim {
    int64_t elements, places; ///< of the image, and of the result
  };
  int64_t images, channels;
  std::array<Dim, 2> dims; ///< height and width
};
inline CropResize cropOf(CropResizeOp op) {
  auto from = op.getInput().getType().getShape(), to = op.getType().getShape();
  return {to[0], to[3], {{{from[1], to[1]}, {from[2], to[2]}}}};
}

/// The type in which pixels are mixed.
inline mlir::FloatType mixType(mlir::Type element) {
  return element.isF64()
             ? mlir::FloatType(mlir::Float64Type::get(element.getContext()))
             : mlir::Float32Type::get(element.getContext());
}

} // namespace mp

#endif // MP_CODEGEN_STAGES_CROPSHAPE_H
