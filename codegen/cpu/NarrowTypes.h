//===- NarrowTypes.h - types that LLVM must not see -------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_NARROWTYPES_H
#define MP_CODEGEN_CPU_NARROWTYPES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace mp::cpu {

/// Rewrites bf16 and stored i1 as integers, and f64 -> f16 as two exact steps.
///
/// bf16 becomes i16 everywhere, and its conversions become integer arithmetic
/// that is bit-equal to APFloat; arithmetic on bf16 is done in f32 and rounded.
/// LLVM does none of this: on AVX512_BF16 it would emit an instruction that
/// flushes subnormals, and below that call a function for each lane. Where
/// there is this instruction, it rounds vectors that have no subnormals
/// (RoundingInstruction.h). i1 becomes i8 in memory (0 or 1) and stays i1 as a
/// value: LLVM would pack vectors of it into bits.
mlir::LogicalResult lowerNarrowTypes(mlir::ModuleOp module,
                                     bool hasInstruction);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NARROWTYPES_H
