//===- WindowSum.h - sums of neighbouring channels on CUDA ------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_POOLING_WINDOWSUM_H
#define MP_CODEGEN_CUDA_POOLING_WINDOWSUM_H

#include "codegen/cuda/layout/Layout.h"
#include "codegen/stages/UpsampleShape.h"

namespace mp::cuda {

/// An instance of kernels/upsample.cuh.
void emitWindowSum(const WindowSum &sum, const LayoutTensor &source,
                   const LayoutTensor &result, KernelStore &store,
                   EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_POOLING_WINDOWSUM_H
