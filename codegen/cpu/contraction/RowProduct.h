//===- RowProduct.h - a few rows times the lines of B -----------*- C++ -*-===//
//
// A few rows of A, as of the one token that a model of texts takes at a time,
// read B but a few times: to copy it in another order would cost more than the
// product. Where the lines of B lie along k, as those of mp.linear's weight do,
// an element of C is the sum over a line of A and one of B, as both lie.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_ROWPRODUCT_H
#define MP_CODEGEN_CPU_CONTRACTION_ROWPRODUCT_H

#include "codegen/cpu/contraction/Contraction.h"

namespace mp::cpu {

bool isRowProduct(const ContractionSpec &spec);

/// emitContraction where isRowProduct. The sum is that of sixteen sums of every
/// sixteenth element each, on all targets.
mlir::FailureOr<EmittedKernel> emitRowProduct(mlir::MLIRContext *context,
                                              const ContractionSpec &spec,
                                              ObjectCompiler &compiler);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_ROWPRODUCT_H
