//===- Layout.h - moves of elements on CUDA ---------------------*- C++ -*-===//
//
// Each function emits the launches of one move, over the arguments that it is
// given: instances of kernels/layout.cuh, which may share launches with others.
// Elements that are not computed on are moved as integers, up to 16 bytes at
// once.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_LAYOUT_LAYOUT_H
#define MP_CODEGEN_CUDA_LAYOUT_LAYOUT_H

#include "codegen/cuda/KernelModel.h"
#include "codegen/stages/AugmentShape.h"
#include "codegen/stages/LayoutShape.h"

namespace mp::cuda {

/// A tensor, and which argument of the kernel it is.
struct LayoutTensor {
  mlir::RankedTensorType type;
  KernelArgument argument;

  mlir::Type element() const { return type.getElementType(); }
  int64_t count() const { return type.getNumElements(); }
};

/// Copies one box of each source, in as few launches as parameters allow.
void emitBoxes(llvm::ArrayRef<BoxCopy> boxes,
               llvm::ArrayRef<LayoutTensor> sources, const LayoutTensor &result,
               KernelStore &store, EmittedKernel &kernel);

void emitPad(const PaddedBox &box, const LayoutTensor &source,
             const LayoutTensor &result, KernelStore &store,
             EmittedKernel &kernel);

/// An index out of range gives zeros.
void emitGather(const NumberedRows &rows, const LayoutTensor &table,
                const LayoutTensor &indices, const LayoutTensor &result,
                KernelStore &store, EmittedKernel &kernel);

/// Replaces rows of the result, which has the table's already; nothing without
/// the flag.
void emitScatterRows(const NumberedRows &rows, const LayoutTensor &updates,
                     const LayoutTensor &indices, const LayoutTensor &result,
                     std::optional<LayoutTensor> flag, KernelStore &store,
                     EmittedKernel &kernel);

/// Adds in the order of the updates, from the base on, and rounds once.
void emitScatterAdd(const NumberedRows &rows, const LayoutTensor &updates,
                    const LayoutTensor &indices,
                    std::optional<LayoutTensor> base,
                    const LayoutTensor &result, KernelStore &store,
                    EmittedKernel &kernel);

/// Sums columns in order, and a row by the threads of a line, in an order that
/// its length decides.
void emitRunningSum(const RunningSum &sum, const LayoutTensor &source,
                    const LayoutTensor &result, KernelStore &store,
                    EmittedKernel &kernel);

/// Moves each image by its own rows and columns; zeros come in.
void emitAugment(const MovedImages &size, const LayoutTensor &source,
                 const LayoutTensor &rows, const LayoutTensor &columns,
                 std::optional<LayoutTensor> mirrored,
                 const LayoutTensor &result, KernelStore &store,
                 EmittedKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_LAYOUT_LAYOUT_H
