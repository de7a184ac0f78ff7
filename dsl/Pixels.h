//===- Pixels.h - bytes and floats of images --------------------*- C++ -*-===//
#ifndef MANTISSA_DSL_PIXELS_H
#define MANTISSA_DSL_PIXELS_H

#include "dsl/Ops.h"

namespace mantissa {

/// Whether elements are bytes or floats, of which 8 bits are too few.
inline bool arePixels(const Tensor &images) {
  ElementType element = images.element();
  return element == U8 || element == F16 || element == BF16 || element == F32 ||
         element == F64;
}

/// What white is: 255 if the images are bytes, and 1 if they are floats.
inline double whiteOf(const Tensor &images) {
  return images.element() == U8 ? 255 : 1;
}

/// Numbers of f32, from 0 to white, as pixels of the images' type.
inline Tensor toPixels(const Tensor &numbers, const Tensor &images) {
  return images.element() == U8 ? cast(floor(numbers + 0.5), U8)
                                : cast(numbers, images.element());
}

} // namespace mantissa

#endif // MANTISSA_DSL_PIXELS_H
