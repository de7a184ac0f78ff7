//===- Backend.cpp - the targets by name ----------------------------------===//
#include "codegen/Backend.h"
#include "codegen/cpu/Backend.h"
#include "codegen/cuda/Backend.h"

using namespace mp;

llvm::Expected<std::unique_ptr<Backend>>
mp::createBackend(const CompileOptions &options, mlir::MLIRContext &context) {
  if (options.target == "cpu")
    return cpu::createBackend(options, context);
  if (options.target == "cuda")
    return cuda::createBackend(options, context);
  return llvm::createStringError("unknown target '" + options.target +
                                 "', expected 'cpu' or 'cuda'");
}
