//===- KernelModel.h - how an anchor becomes code on the CPU --------------===//
#ifndef MP_CODEGEN_CPU_KERNELMODEL_H
#define MP_CODEGEN_CPU_KERNELMODEL_H

#include "codegen/cpu/Emit.h"
#include "dialect/Mp.h"

namespace mp::cpu {
/// What the machine has beside the CPU.
struct EmitOptions {
  unsigned workers = 1; ///< that will share the work
  bool onednn = false; ///< calls of "dnnl.*" may be emitted
  bool onednnBf16 =
      false; ///< on bf16 too: below AVX-512 oneDNN has only reference code
};
} // namespace mp::cpu

#include "codegen/cpu/KernelModel.h.inc"

#endif // MP_CODEGEN_CPU_KERNELMODEL_H
