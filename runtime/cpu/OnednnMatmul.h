//===- OnednnMatmul.h - the routine "dnnl.matmul" -------------------------===//
#ifndef MP_RUNTIME_CPU_ONEDNNMATMUL_H
#define MP_RUNTIME_CPU_ONEDNNMATMUL_H

#include "runtime/cpu/Routine.h"

namespace mp {

/// Makes "dnnl.matmul" (program/Program.h): each worker has a single-threaded
/// primitive for every number of rows that a task has, so that the result
/// depends on `block` and not on the number of workers.
llvm::Expected<std::unique_ptr<Routine>>
createOnednnMatmul(const Call &call, const RoutineContext &context);

/// The name of the oneDNN kernel for a matrix product of `type` on this CPU,
/// "brg:avx512_core"; empty without oneDNN or such a kernel.
std::string onednnMatmulKernel(ElementType type);

} // namespace mp

#endif // MP_RUNTIME_CPU_ONEDNNMATMUL_H
