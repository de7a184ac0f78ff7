//===- RepeatOps.h - ops again where they are used again --------*- C++ -*-===//
#ifndef MP_PASSES_KERNELS_REPEATOPS_H
#define MP_PASSES_KERNELS_REPEATOPS_H

#include "dialect/Mp.h"

namespace mp {

/// Computes expensive elementwise ops again at uses that come after another
/// anchor, if the op's operand is read there as well and nothing stores the
/// result for another reason. Values do not change.
void repeatOps(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_KERNELS_REPEATOPS_H
