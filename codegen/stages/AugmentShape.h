//===- AugmentShape.h - moved images, for any target ------------*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_AUGMENTSHAPE_H
#define MP_CODEGEN_STAGES_AUGMENTSHAPE_H

#include "dialect/ops/Augmentation.h"

namespace mp {

/// Images of an mp.augment_images.
struct MovedImages {
  int64_t images, height, width, channels;
};
inline MovedImages imagesOf(AugmentImagesOp op) {
  auto shape = op.getType().getShape();
  return {shape[0], shape[1], shape[2], shape[3]};
}

} // namespace mp

#endif // MP_CODEGEN_STAGES_AUGMENTSHAPE_H
