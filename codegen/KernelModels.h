//===- KernelModels.h - how anchors become kernels on each target ---------===//
#ifndef MP_CODEGEN_KERNELMODELS_H
#define MP_CODEGEN_KERNELMODELS_H

#include "mlir/IR/DialectRegistry.h"

namespace mp {

/// Attaches every family's kernel models, of all targets.
void registerKernelModels(mlir::DialectRegistry &registry);

} // namespace mp

#endif // MP_CODEGEN_KERNELMODELS_H
