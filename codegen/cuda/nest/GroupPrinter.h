//===- GroupPrinter.h - a group of stages as a kernel -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_NEST_GROUPPRINTER_H
#define MP_CODEGEN_CUDA_NEST_GROUPPRINTER_H

#include "codegen/cuda/Arch.h"
#include "codegen/cuda/nest/StageKernel.h"
#include "codegen/stages/StageGroup.h"

namespace mp::cuda {

/// Prints a group of any schedule but General. Fails with diagnostics at ops
/// that cannot be printed.
llvm::LogicalResult printGroup(const StageGroup &group, const Arch &arch,
                               StageKernel &kernel);

/// Prints a stage of any maps: a thread for each result or for some neighbours;
/// a warp or a block if there are few results of long reductions; tiles in
/// shared memory if results and operands have different orders in memory.
llvm::LogicalResult printGeneral(mlir::linalg::GenericOp stage,
                                 StageKernel &kernel);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_NEST_GROUPPRINTER_H
