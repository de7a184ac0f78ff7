//===- StageGrouping.h - a kernel's stages in groups ------------*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_STAGEGROUPING_H
#define MP_CODEGEN_STAGES_STAGEGROUPING_H

#include "codegen/stages/StageGroup.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mp {

/// A copy of a kernel's body, cut into groups that run one after the other.
struct StageProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< owns the groups
  llvm::SmallVector<mlir::Value> operands;  ///< the kernel's
  llvm::SmallVector<mlir::Value> results;   ///< a stage of its own makes each
  llvm::SmallVector<StageGroup> groups;
};

/// Analyses `body`: block arguments are static ranked tensors, operations are
/// linalg.generic, linalg.fill, tensor.empty and arith.constant, and the
/// operands of the terminator are the results. Fails with a diagnostic at the
/// operation that no target could lower.
llvm::FailureOr<StageProgram> analyzeStages(mlir::Block &body,
                                            const StageTarget &target);

} // namespace mp

#endif // MP_CODEGEN_STAGES_STAGEGROUPING_H
