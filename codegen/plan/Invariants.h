//===- Invariants.h - what all rounds of a loop read ------------*- C++ -*-===//
#ifndef MP_CODEGEN_PLAN_INVARIANTS_H
#define MP_CODEGEN_PLAN_INVARIANTS_H

#include "dialect/ops/Kernel.h"

namespace mp {

/// Notes on the kernels in bodies of loops which of their operands are the same
/// in all rounds, so that a target can prepare these once: launches that
/// prepare no others run before the loop.
void noteInvariants(mlir::ModuleOp module);

/// Whether that was noted of an operand.
bool isInvariant(KernelOp kernel, unsigned operand);

} // namespace mp

#endif // MP_CODEGEN_PLAN_INVARIANTS_H
