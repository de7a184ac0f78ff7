//===- InPlace.h - when a result may take the place of an operand ---------===//
#ifndef MP_CODEGEN_STAGES_INPLACE_H
#define MP_CODEGEN_STAGES_INPLACE_H

#include "codegen/stages/StageGrouping.h"

namespace mp {

/// Whether `result` may have the memory of `operand`: they have one type, and
/// the kernel of stages reads each element of the operand for the last time
/// before or where it stores that element of the result.
bool allowsInPlace(const StageProgram &program, unsigned operand,
                   unsigned result);
/// The same, of a kernel that is not analyzed yet.
bool allowsInPlace(mlir::Block &body, unsigned operand, unsigned result,
                   const StageTarget &target = {});

} // namespace mp

#endif // MP_CODEGEN_STAGES_INPLACE_H
