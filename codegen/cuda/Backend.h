//===- Backend.h - kernels as CUDA sources --------------------------------===//
#ifndef MP_CODEGEN_CUDA_BACKEND_H
#define MP_CODEGEN_CUDA_BACKEND_H

#include "codegen/Backend.h"

namespace mp {

namespace cuda {
/// Errors: an unknown architecture, or one below sm_80; a tuning plan that
/// cannot be read.
llvm::Expected<std::unique_ptr<Backend>>
createBackend(const CompileOptions &options, mlir::MLIRContext &context);
} // namespace cuda

} // namespace mp

#endif // MP_CODEGEN_CUDA_BACKEND_H
