//===- StageEmitter.h - stage kernels on CUDA -------------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_NEST_STAGEEMITTER_H
#define MP_CODEGEN_CUDA_NEST_STAGEEMITTER_H

#include "codegen/cuda/KernelModel.h"
#include "codegen/stages/StageGroup.h"

namespace mp::cuda {

/// How stages are split up for a GPU of any size: enough blocks to fill a large
/// one.
StageTarget stageTarget();

/// Prints a kernel of stages. `body` is as in cpu/StageEmitter.h: with
/// `predicated` its last operand is a tensor<i1>, and nothing is written if
/// that is false. Partial results and blocks depend on the shapes alone, and
/// threads are combined in a fixed order, so that the same bits come out of
/// every run.
///
/// Fails with diagnostics at the stages. Thread-safe for distinct bodies.
llvm::FailureOr<EmittedKernel> emitStages(mlir::Block &body, bool predicated,
                                          const EmitOptions &options,
                                          KernelStore &store);

/// Copies `bytes` if an i1 is true; the launch's arguments are to, from, flag.
KernelLaunch emitGuardedCopy(uint64_t bytes, KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_NEST_STAGEEMITTER_H
