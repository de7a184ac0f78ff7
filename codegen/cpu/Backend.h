//===- Backend.h - kernels as objects for a CPU ---------------------------===//
#ifndef MP_CODEGEN_CPU_BACKEND_H
#define MP_CODEGEN_CPU_BACKEND_H

#include "codegen/Backend.h"

namespace mp {

namespace cpu {
/// Errors: a CPU that LLVM does not know, or that cannot convert f16.
llvm::Expected<std::unique_ptr<Backend>>
createBackend(const CompileOptions &options, mlir::MLIRContext &context);
} // namespace cpu

} // namespace mp

#endif // MP_CODEGEN_CPU_BACKEND_H
