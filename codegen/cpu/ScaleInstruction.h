//===- ScaleInstruction.h - x 2^n in one instruction ------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_SCALEINSTRUCTION_H
#define MP_CODEGEN_CPU_SCALEINSTRUCTION_H

#include "mlir/IR/BuiltinOps.h"

namespace mp::cpu {

/// Replaces x 2^n in f32, which the expansion of exp and similar functions
/// writes as two products with powers made of bits, by `llvm.ldexp`, which
/// rounds as they do. Only for targets with AVX-512, which have an instruction
/// for it; on others LLVM would call libm.
void useScaleInstruction(mlir::ModuleOp module);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_SCALEINSTRUCTION_H
