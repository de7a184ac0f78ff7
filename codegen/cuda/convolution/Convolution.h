//===- Convolution.h - convolutions on CUDA ---------------------*- C++ -*-===//
//
// A convolution is a product for each group of channels (kernels/conv.cuh): the
// kernels, tiles, shares of k and stages after it are those of products
// (codegen/cuda/contraction/). A convolution that is a product of its tensors
// as they lie in memory becomes exactly that, with its tuning plan and library.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTION_H
#define MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTION_H

#include "codegen/cuda/KernelModel.h"

namespace mp::cuda {

/// Returns how many of the stages after an anchor go into its kernel. The
/// anchor of these functions is mp.conv2d, mp.conv2d_backward_input or
/// mp.conv2d_backward_weight.
unsigned acceptedByConvolution(mlir::Operation *anchor, StageList stages,
                               const EmitOptions &options);

/// Emits a convolution and the stages after it, all of them accepted. Sums are
/// as those of products (emitContraction). Fails with a diagnostic for types
/// that no kernel takes, and for sizes that do not fit into 31 bits.
llvm::FailureOr<EmittedKernel> emitConvolution(mlir::Operation *anchor,
                                               StageList stages,
                                               const EmitOptions &options,
                                               KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONVOLUTION_CONVOLUTION_H
