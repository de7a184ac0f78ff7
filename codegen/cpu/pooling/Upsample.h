//===- Upsample.h - images in another size on the CPU -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_POOLING_UPSAMPLE_H
#define MP_CODEGEN_CPU_POOLING_UPSAMPLE_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/UpsampleShape.h"

namespace mp::cpu {

/// Channels are vectors, and a work item is a line of the result. A gradient
/// gathers from the pixels that have a part of it.
mlir::LogicalResult emitUpsample(const Upsample &upsample,
                                 const LayoutTensor &source,
                                 const LayoutTensor &result,
                                 ObjectCompiler &compiler,
                                 EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_POOLING_UPSAMPLE_H
