//===- Upsample.h - images in another size on CUDA --------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_POOLING_UPSAMPLE_H
#define MP_CODEGEN_CUDA_POOLING_UPSAMPLE_H

#include "codegen/cuda/layout/Layout.h"
#include "codegen/stages/UpsampleShape.h"

namespace mp::cuda {

/// An instance of kernels/upsample.cuh.
void emitUpsample(const Upsample &upsample, const LayoutTensor &source,
                  const LayoutTensor &result, KernelStore &store,
                  EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_POOLING_UPSAMPLE_H
