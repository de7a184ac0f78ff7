//===- Sort.h - sorted rows on the CPU --------------------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_SORT_SORT_H
#define MP_CODEGEN_CPU_SORT_SORT_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/SortShape.h"

namespace mp::cpu {

/// Emits the launch that sorts each row in a task's scratch memory. If few
/// indices are kept, it passes over the row once and inserts what is among the
/// first so far; otherwise it sorts by digits of the keys.
mlir::LogicalResult emitArgsort(const SortedRows &sorted,
                                const LayoutTensor &source,
                                const LayoutTensor &result,
                                ObjectCompiler &compiler,
                                EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_SORT_SORT_H
