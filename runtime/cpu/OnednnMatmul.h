//===- OnednnMatmul.h - the routine "dnnl.matmul" -------------------------===//
#ifndef MP_RUNTIME_CPU_ONEDNNMATMUL_H
#define MP_RUNTIME_CPU_ONEDNNMATMUL_H

#include "runtime/cpu/Routine.h"

namespace mp {

/// "dnnl.matmul" (program/Program.h): a primitive for every worker and every
/// number of rows that a task has, each of one thread, so that the result
/// depends on `block` and not on the number of workers.
llvm::Expected<std::unique_ptr<Routine>> createOnednnMatmul(const Call &call,
                                                            unsigned workers);

/// oneDNN's name of the kernel it takes on this CPU for a matrix product of
/// `type`, "brg:avx512_core"; empty where there is no oneDNN or it has none.
std::string onednnMatmulKernel(ElementType type);

} // namespace mp

#endif // MP_RUNTIME_CPU_ONEDNNMATMUL_H
