//===- MergeLaunches.h - one launch for many kernels ------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_MERGELAUNCHES_H
#define MP_CODEGEN_CUDA_MERGELAUNCHES_H

#include "codegen/cuda/KernelStore.h"
#include "codegen/plan/EntryPlan.h"

namespace mp::cuda {

/// Puts launches of stages that do not wait for one another into one launch
/// each: the optimizer's updates, for one. `places` is what each step touches;
/// a step stays behind those whose results it needs, and may pass any other.
void mergeLaunches(Entry &entry, llvm::ArrayRef<StepPlaces> places,
                   ProgramBuilder &builder, KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_MERGELAUNCHES_H
