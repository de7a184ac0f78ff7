//===- StageEmitter.h - stage kernels on the CPU ----------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_NEST_STAGEEMITTER_H
#define MP_CODEGEN_CPU_NEST_STAGEEMITTER_H

#include "codegen/cpu/Emit.h"

namespace mp::cpu {

/// Compiles a kernel of stages. `body`: its arguments are the kernel's
/// operands, static ranked tensors of signless integers and floats; its
/// operations are linalg.generic stages whose bodies are arith and math ops on
/// scalars, and linalg.fill, tensor.empty and splat arith.constant for their
/// inits; its terminator's operands are the kernel's results. The f32 math
/// functions in a body become calls of libm.
///
/// With `predicated` the last operand is a tensor<i1>, and nothing is written
/// if it is false. Partial results and tasks depend on the shapes alone, and
/// lanes are combined in a fixed order, so that the bits do not depend on the
/// threads.
///
/// Fails with diagnostics at the stages. Thread-safe for distinct bodies.
llvm::FailureOr<EmittedKernel> emitStages(mlir::Block &body, bool predicated,
                                          ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_STAGEEMITTER_H
