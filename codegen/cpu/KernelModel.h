//===- KernelModel.h - how an anchor becomes code on the CPU --------------===//
#ifndef MP_CODEGEN_CPU_KERNELMODEL_H
#define MP_CODEGEN_CPU_KERNELMODEL_H

#include "codegen/cpu/Emit.h"
#include "codegen/stages/Anchor.h"

namespace mp::cpu {
/// What the machine has beside the CPU.
struct EmitOptions {
  unsigned workers = 1;                       ///< that will share the work
  bool onednnF32 = false, onednnBf16 = false; ///< products go to oneDNN
};
} // namespace mp::cpu

#include "codegen/cpu/KernelModel.h.inc"

#endif // MP_CODEGEN_CPU_KERNELMODEL_H
