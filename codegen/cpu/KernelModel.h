//===- KernelModel.h - how a kernel becomes code on the CPU ---------------===//
#ifndef MP_CODEGEN_CPU_KERNELMODEL_H
#define MP_CODEGEN_CPU_KERNELMODEL_H

#include "codegen/cpu/Emit.h"
#include "dialect/Mp.h"

namespace mp::cpu {
/// What the machine has beside the CPU.
struct EmitOptions {
  bool onednn = false; ///< calls of "dnnl.*" may be emitted
  bool onednnBf16 =
      false; ///< on bf16 too: below AVX-512 oneDNN has only reference code
};
} // namespace mp::cpu

#include "codegen/cpu/KernelModel.h.inc"

namespace mp {
/// Attaches every family's models.
void registerKernelModels(mlir::DialectRegistry &registry);

namespace cpu {
/// Splits what their models do not accept off the anchored kernels of a
/// function.
void splitEpilogues(mlir::func::FuncOp function, const EmitOptions &options);

/// Emits one kernel: by its anchor's model, or from its stages. Thread-safe.
llvm::FailureOr<EmittedKernel> emitKernel(KernelOp kernel,
                                          const EmitOptions &options,
                                          ObjectCompiler &compiler);
} // namespace cpu
} // namespace mp

#endif // MP_CODEGEN_CPU_KERNELMODEL_H
