//===- RecomputeSegments.h - loops of backward that need less of forward --===//
#ifndef MP_PASSES_AUTODIFF_RECOMPUTESEGMENTS_H
#define MP_PASSES_AUTODIFF_RECOMPUTESEGMENTS_H

#include "dialect/Mp.h"

namespace mp {

/// Divides loops of forward, and those of backward that run over their stacks,
/// into segments: forward keeps what it carries from one segment to the next,
/// and backward runs each segment of forward again before its own, for the
/// stacks. Returns whether there is any whose stacks become smaller.
bool recomputeSegments(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_AUTODIFF_RECOMPUTESEGMENTS_H
