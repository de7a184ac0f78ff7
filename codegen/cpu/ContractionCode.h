//===- ContractionCode.h - the two functions of a contraction ---*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONTRACTIONCODE_H
#define MP_CODEGEN_CPU_CONTRACTIONCODE_H

#include "codegen/cpu/ContractionPlan.h"

namespace mp::cpu {

/// void pack(b, packed, begin, end): work items are the panels of all of B's
/// matrices. packed[panel][p][j] = b[p, panel * tileN + j] as an accumulator;
/// columns past n hold zeros or a column of B, so that no subnormal rubbish
/// slows the sums.
mlir::OwningOpRef<mlir::ModuleOp> buildPack(mlir::MLIRContext *context,
                                            const ContractionSpec &spec,
                                            const ContractionPlan &plan);

/// void multiply(a, packed, [bias], c, begin, end, shared): work items are the
/// blocks of C.
mlir::OwningOpRef<mlir::ModuleOp> buildMultiply(mlir::MLIRContext *context,
                                                const ContractionSpec &spec,
                                                const ContractionPlan &plan);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTIONCODE_H
