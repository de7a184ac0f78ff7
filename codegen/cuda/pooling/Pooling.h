//===- Pooling.h - pools on CUDA --------------------------------*- C++ -*-===//
//
// Instances of kernels/pooling.cuh, which may share launches with others.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_POOLING_POOLING_H
#define MP_CODEGEN_CUDA_POOLING_POOLING_H

#include "codegen/cuda/layout/Layout.h"
#include "codegen/stages/PoolingShape.h"

namespace mp::cuda {

/// `index` is the second operand of a pool that takes one.
void emitPool(const Pool &pool, const LayoutTensor &source,
              std::optional<LayoutTensor> index, const LayoutTensor &result,
              KernelStore &store, EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_POOLING_POOLING_H
