//===- BackwardOps.h - telling backward ops from forward ones -------------===//
#ifndef MP_PASSES_ANALYSIS_BACKWARDOPS_H
#define MP_PASSES_ANALYSIS_BACKWARDOPS_H

#include "dialect/Mp.h"

namespace mp {

/// Returns the location of a backward op: that of the forward op, marked.
mlir::Location backwardOf(mlir::Location forward);
/// Whether a location, or one that was fused into it, has that mark.
bool isBackward(mlir::Location location);

/// Drops ops that nothing uses: gradient rules build adjoints that are not
/// needed.
void eraseDead(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_BACKWARDOPS_H
