//===- CropResize.h - boxes of images in one size on CUDA -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_POOLING_CROPRESIZE_H
#define MP_CODEGEN_CUDA_POOLING_CROPRESIZE_H

#include "codegen/cuda/layout/Layout.h"
#include "codegen/stages/CropShape.h"

namespace mp::cuda {

/// Where the box of each image is: numbers of f32, [images].
struct Boxes {
  LayoutTensor top, left, height, width;
};

/// An instance of kernels/crop.cuh.
void emitCropResize(const CropResize &crop, const LayoutTensor &source,
                    const Boxes &boxes, const LayoutTensor &result,
                    KernelStore &store, EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_POOLING_CROPRESIZE_H
