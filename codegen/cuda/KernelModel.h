//===- KernelModel.h - how an anchor becomes code on CUDA -----------------===//
#ifndef MP_CODEGEN_CUDA_KERNELMODEL_H
#define MP_CODEGEN_CUDA_KERNELMODEL_H

#include "codegen/Emit.h"
#include "codegen/cuda/Arch.h"
#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/contraction/TunePlan.h"
#include "codegen/stages/Anchor.h"

namespace mp::cuda {
/// The architecture that kernels are made for, and the libraries that may be
/// called.
struct EmitOptions {
  Arch arch;
  bool cublaslt = false;   ///< "cublaslt.*" may be called
  bool cudnn = false;      ///< "cudnn.*" may be called
  bool loopKernels = true; ///< a kernel may run a whole loop
  std::optional<TunePlan> plan;
};
} // namespace mp::cuda

#include "codegen/cuda/KernelModel.h.inc"

#endif // MP_CODEGEN_CUDA_KERNELMODEL_H
