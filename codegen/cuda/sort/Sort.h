//===- Sort.h - sorted rows on CUDA -----------------------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_SORT_SORT_H
#define MP_CODEGEN_CUDA_SORT_SORT_H

#include "codegen/cuda/layout/Layout.h"
#include "codegen/stages/SortShape.h"

namespace mp::cuda {

/// Emits instances of kernels/sort.cuh: a launch that sorts tiles of each row,
/// and launches that each merge two sorted runs into one until there is one
/// run. A run is cut off after the number of indices that are kept, so that a
/// small number costs little more than the first launch.
void emitArgsort(const SortedRows &sorted, const LayoutTensor &source,
                 const LayoutTensor &result, KernelStore &store,
                 EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_SORT_SORT_H
