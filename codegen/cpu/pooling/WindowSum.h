//===- WindowSum.h - sums of neighbouring channels on the CPU ---*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_POOLING_WINDOWSUM_H
#define MP_CODEGEN_CPU_POOLING_WINDOWSUM_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/UpsampleShape.h"

namespace mp::cpu {

/// Adds the elements of each window in their order, from the first on.
mlir::LogicalResult emitWindowSum(const WindowSum &sum,
                                  const LayoutTensor &source,
                                  const LayoutTensor &result,
                                  ObjectCompiler &compiler,
                                  EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_POOLING_WINDOWSUM_H
