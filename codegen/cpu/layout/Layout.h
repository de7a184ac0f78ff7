//===- Layout.h - moves of elements on the CPU ------------------*- C++ -*-===//
//
// Each function emits the launches of one move, over the arguments that it is
// given. Elements that are not computed on are moved as integers of their
// width; a task has some 64 KiB of the result, by the shape alone.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_LAYOUT_LAYOUT_H
#define MP_CODEGEN_CPU_LAYOUT_LAYOUT_H

#include "codegen/cpu/Emit.h"
#include "codegen/stages/AugmentShape.h"
#include "codegen/stages/LayoutShape.h"

namespace mp::cpu {

/// A tensor, and which argument of the kernel it is.
struct LayoutTensor {
  mlir::RankedTensorType type;
  KernelArgument argument;

  mlir::Type element() const { return type.getElementType(); }
  int64_t count() const { return type.getNumElements(); }
};

mlir::LogicalResult emitBox(const BoxCopy &box, const LayoutTensor &source,
                            const LayoutTensor &result,
                            ObjectCompiler &compiler, EmittedKernel &kernel);

mlir::LogicalResult emitPad(const PaddedBox &box, const LayoutTensor &source,
                            const LayoutTensor &result,
                            ObjectCompiler &compiler, EmittedKernel &kernel);

/// An index out of range gives zeros.
mlir::LogicalResult emitGather(const NumberedRows &rows,
                               const LayoutTensor &table,
                               const LayoutTensor &indices,
                               const LayoutTensor &result,
                               ObjectCompiler &compiler, EmittedKernel &kernel);

/// Replaces rows of the result, which has the table's already; nothing without
/// the flag.
mlir::LogicalResult
emitScatterRows(const NumberedRows &rows, const LayoutTensor &updates,
                const LayoutTensor &indices, const LayoutTensor &result,
                std::optional<LayoutTensor> flag, ObjectCompiler &compiler,
                EmittedKernel &kernel);

/// Two launches: the first sorts the updates by their index, equal ones in
/// order; the second sums each row of the result, from the base on, and rounds.
mlir::LogicalResult
emitScatterAdd(const NumberedRows &rows, const LayoutTensor &updates,
               const LayoutTensor &indices, std::optional<LayoutTensor> base,
               const LayoutTensor &result, ObjectCompiler &compiler,
               EmittedKernel &kernel);

/// Takes each sum element by element, in order.
mlir::LogicalResult emitRunningSum(const RunningSum &sum,
                                   const LayoutTensor &source,
                                   const LayoutTensor &result,
                                   ObjectCompiler &compiler,
                                   EmittedKernel &kernel);

/// Moves each image by its own rows and columns; zeros come in.
mlir::LogicalResult
emitAugment(const MovedImages &size, const LayoutTensor &source,
            const LayoutTensor &rows, const LayoutTensor &columns,
            std::optional<LayoutTensor> mirrored, const LayoutTensor &result,
            ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_LAYOUT_LAYOUT_H
