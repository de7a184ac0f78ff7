//===- SameKernels.h - kernels that become the same code --------*- C++ -*-===//
#ifndef MP_CODEGEN_SAMEKERNELS_H
#define MP_CODEGEN_SAMEKERNELS_H

#include "dialect/ops/Kernel.h"

namespace mp {

/// Returns for each kernel the index of the first that equals it but for the
/// tensors that it takes, the names of its ops and the places in the source: a
/// target emits both alike, as it sees nothing else of a kernel.
std::vector<size_t> firstOfSame(llvm::ArrayRef<KernelOp> kernels);

} // namespace mp

#endif // MP_CODEGEN_SAMEKERNELS_H
