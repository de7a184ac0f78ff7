//===- ScalarOps.h - one op on scalars as an expression ---------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_SCALAROPS_H
#define MP_CODEGEN_CUDA_SCALAROPS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mp::cuda {

/// Prints the one result of an arith or math op on operands given as
/// expressions that need no parentheses. Returns an empty text for an op
/// without a form.
std::string printScalarOp(mlir::Operation *op,
                          llvm::ArrayRef<std::string> operands);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_SCALAROPS_H
