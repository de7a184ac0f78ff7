//===- StagePlan.h - can these stages share a loop nest? --------*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_STAGEPLAN_H
#define MP_CODEGEN_STAGES_STAGEPLAN_H

#include "codegen/stages/StageGroup.h"

namespace mp {

/// Returns a group of `ops` in this order, with everything but `outputs`,
/// `levels` and `buffered` filled in; nothing if they cannot share a nest.
/// `earlier` is the group they come from, if any: its terminals stay terminals.
std::optional<StageGroup> planGroup(llvm::ArrayRef<mlir::linalg::GenericOp> ops,
                                    const StageGroup *earlier,
                                    const StageTarget &target);

/// Fills in `level` and `buffered` once the group's stages and outputs are
/// known.
void planPasses(StageGroup &group);

} // namespace mp

#endif // MP_CODEGEN_STAGES_STAGEPLAN_H
