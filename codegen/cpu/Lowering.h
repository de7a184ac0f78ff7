//===- Lowering.h - kernels to the LLVM dialect -----------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_LOWERING_H
#define MP_CODEGEN_CPU_LOWERING_H

#include "codegen/cpu/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace mp::cpu {

/// Lowers a module of func, arith, math, vector, scf, memref and affine ops to
/// the LLVM dialect; memref arguments become bare pointers. Roundings and their
/// order stay what the IR says, whatever instructions the target has. Math
/// functions that LLVM has no instruction for end as calls of libm.
mlir::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module,
                                       const Target &target);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_LOWERING_H
