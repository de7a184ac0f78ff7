//===- RoundingInstruction.h - bf16 by one instruction ----------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_ROUNDINGINSTRUCTION_H
#define MP_CODEGEN_CPU_ROUNDINGINSTRUCTION_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mp::cpu {

/// Whether `x`, in f32, is whole registers of 16 lanes.
bool canRoundByInstruction(mlir::Value x);

/// Returns `x` rounded to bf16, as i16, by the instructions of AVX512-BF16.
/// They give the bits of `otherwise` but for subnormal elements, which they
/// take for zeros: where any lane holds one, the result is what `otherwise`
/// builds, on a branch that is hardly ever taken. Needs AVX512-DQ, too.
mlir::Value roundByInstruction(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                               llvm::function_ref<mlir::Value()> otherwise);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ROUNDINGINSTRUCTION_H
