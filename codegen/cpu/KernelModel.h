//===- KernelModel.h - how an anchor becomes code on the CPU --------------===//
#ifndef MP_CODEGEN_CPU_KERNELMODEL_H
#define MP_CODEGEN_CPU_KERNELMODEL_H

#include "codegen/cpu/Emit.h"
#include "codegen/stages/Anchor.h"

namespace mp::cpu {
/// The resources of the machine besides the CPU itself.
struct EmitOptions {
  unsigned workers = 1; ///< number of threads that will share the work
  bool onednnF32 = false, onednnBf16 = false; ///< products go to oneDNN
};
} // namespace mp::cpu

#include "codegen/cpu/KernelModel.h.inc"

#endif // MP_CODEGEN_CPU_KERNELMODEL_H
