//===- CropResize.h - boxes of images in one size on the CPU ----*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_POOLING_CROPRESIZE_H
#define MP_CODEGEN_CPU_POOLING_CROPRESIZE_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/CropShape.h"

namespace mp::cpu {

/// Where the box of each image is: numbers of f32, [images].
struct Boxes {
  LayoutTensor top, left, height, width;
};

/// A work item is a line of the result. Where a pixel lies is computed once for
/// all its channels.
mlir::LogicalResult
emitCropResize(const CropResize &crop, const LayoutTensor &source,
               const Boxes &boxes, const LayoutTensor &result,
               ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_POOLING_CROPRESIZE_H
