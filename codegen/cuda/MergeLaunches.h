//===- MergeLaunches.h - one launch for many kernels ------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_MERGELAUNCHES_H
#define MP_CODEGEN_CUDA_MERGELAUNCHES_H

#include "codegen/EntryPlan.h"
#include "codegen/cuda/KernelStore.h"

namespace mp::cuda {

/// Puts launches of stages that do not wait for one another into one launch
/// each: the optimizer's updates, for one. Steps change places only where
/// neither touches what the other writes. A merged kernel reads its addresses
/// from a table; which block does what is in its source.
void mergeLaunches(Entry &entry, ProgramBuilder &builder, KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_MERGELAUNCHES_H
