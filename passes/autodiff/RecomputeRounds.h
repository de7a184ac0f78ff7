//===- RecomputeRounds.h - loops of backward that need less of forward ----===//
#ifndef MP_PASSES_AUTODIFF_RECOMPUTEROUNDS_H
#define MP_PASSES_AUTODIFF_RECOMPUTEROUNDS_H

#include "dialect/Mp.h"

namespace mp {

/// Lets loops of backward compute again, round by round, what loops of forward
/// stack for them alone, from what these carry, run over and read. Returns
/// whether there is any whose stacks become smaller.
bool recomputeRounds(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_AUTODIFF_RECOMPUTEROUNDS_H
