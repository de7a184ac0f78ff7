//===- MergeLaunches.h - one launch for many kernels ------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_LAUNCHES_MERGELAUNCHES_H
#define MP_CODEGEN_CUDA_LAUNCHES_MERGELAUNCHES_H

#include "codegen/cuda/KernelStore.h"
#include "codegen/plan/EntryPlan.h"

namespace mp::cuda {

/// Merges launches of stages that do not wait for one another into one launch:
/// the optimizer's updates, for example. `places` has the places that each step
/// touches; a step stays after those whose results it needs, and may pass any
/// other.
void mergeLaunches(Entry &entry, llvm::ArrayRef<StepBufferRefs> refs,
                   ProgramBuilder &builder, KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_LAUNCHES_MERGELAUNCHES_H
