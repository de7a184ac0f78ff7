//===- Decompose.h - ops as elementwise ops and reductions ----------------===//
#ifndef MP_PASSES_KERNELS_DECOMPOSE_H
#define MP_PASSES_KERNELS_DECOMPOSE_H

#include "dialect/ops/View.h"

namespace mp {

/// Rewrites a function until it holds only ops that kernels consist of:
/// elementwise ops, reductions in their compute type, views and anchors. Equal
/// subexpressions become one, and reshapes move in front of elementwise ops,
/// where they cost nothing.
void decomposeToPrimitives(mlir::func::FuncOp function);

/// Whether a reshape only adds or drops dimensions of size one.
bool isUnitReshape(ReshapeOp op);

} // namespace mp

#endif // MP_PASSES_KERNELS_DECOMPOSE_H
