//===- StepPhases.h - the parts of a training step ------------------------===//
#ifndef MP_PASSES_INSPECT_STEPPHASES_H
#define MP_PASSES_INSPECT_STEPPHASES_H

#include "dialect/Mp.h"

namespace mp {

/// Returns the ops of a step's update: those that depend on gradients, and
/// those that only such ops use. Backward ops are not among them.
llvm::DenseSet<mlir::Operation *> findUpdate(mlir::Block &body);

} // namespace mp

#endif // MP_PASSES_INSPECT_STEPPHASES_H
