//===- RankReduction.h - what ranks give, reduced in their order ----------===//
#ifndef MP_CODEGEN_CUDA_RANKREDUCTION_H
#define MP_CODEGEN_CUDA_RANKREDUCTION_H

#include "codegen/cuda/KernelStore.h"
#include "dialect/ops/Collective.h"

namespace mp::cuda {

/// Adds the kernel by which a routine "nccl.*" reduces, and returns its symbol:
/// see Call in program/Program.h.
std::string emitRankReduction(RankReduction reduction, mlir::Type element,
                              KernelStore &store);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_RANKREDUCTION_H
