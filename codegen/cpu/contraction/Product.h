//===- Product.h - an anchor that is a matrix product -----------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_PRODUCT_H
#define MP_CODEGEN_CPU_CONTRACTION_PRODUCT_H

#include "codegen/cpu/KernelModel.h"
#include "codegen/cpu/contraction/Contraction.h"

namespace mp::cpu {

/// Emits an anchor whose first operands are a, b and the bias of `spec`: by
/// oneDNN if it is linked and the options choose it, else generated code.
mlir::FailureOr<EmittedKernel> emitProduct(mlir::Operation *anchor,
                                           ContractionSpec spec,
                                           const EmitOptions &options,
                                           ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_PRODUCT_H
