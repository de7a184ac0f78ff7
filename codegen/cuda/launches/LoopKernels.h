//===- LoopKernels.h - one kernel for all rounds of a loop ------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_LAUNCHES_LOOPKERNELS_H
#define MP_CODEGEN_CUDA_LAUNCHES_LOOPKERNELS_H

#include "codegen/cuda/Arch.h"
#include "codegen/cuda/KernelStore.h"
#include "codegen/plan/EntryPlan.h"

namespace mp::cuda {

/// Replaces each Repeat whose steps fit one kernel by one cooperative launch.
/// It reads weights that all rounds multiply by once, and keeps them
/// (kernels/loop.cuh). Returns the places that each step that is left touches;
/// `refs` has those of the steps now.
std::vector<StepBufferRefs>
formLoopKernels(Entry &entry, llvm::ArrayRef<StepBufferRefs> refs,
                const Arch &arch, ProgramBuilder &builder, KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_LAUNCHES_LOOPKERNELS_H
