//===- Pooling.h - pools on the CPU -----------------------------*- C++ -*-===//
//
// Channels are vectors. A work item is a row of the result, or some channels of
// it if there are few rows; the elements of a place, or the places of an
// element in a gradient, are visited row by row, and so sums have one order.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_POOLING_POOLING_H
#define MP_CODEGEN_CPU_POOLING_POOLING_H

#include "codegen/cpu/layout/Layout.h"
#include "codegen/stages/PoolingShape.h"

namespace mp::cpu {

/// `index` is the second operand of a pool that takes one.
mlir::LogicalResult emitPool(const Pool &pool, const LayoutTensor &source,
                             std::optional<LayoutTensor> index,
                             const LayoutTensor &result,
                             ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_POOLING_POOLING_H
