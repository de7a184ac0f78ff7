//===- SplitEpilogues.h - stages that a target does not take in -----------===//
#ifndef MP_CODEGEN_STAGES_SPLITEPILOGUES_H
#define MP_CODEGEN_STAGES_SPLITEPILOGUES_H

#include "codegen/Backend.h"

namespace mp {

/// Splits the stages that the target does not accept off the anchored kernels
/// of a function.
void splitEpilogues(mlir::func::FuncOp function, const Backend &backend);

} // namespace mp

#endif // MP_CODEGEN_STAGES_SPLITEPILOGUES_H
