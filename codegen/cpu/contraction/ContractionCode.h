//===- ContractionCode.h - the function of a contraction --------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONTRACTION_CONTRACTIONCODE_H
#define MP_CODEGEN_CPU_CONTRACTION_CONTRACTIONCODE_H

#include "codegen/cpu/LoopBuilder.h"
#include "codegen/cpu/contraction/ContractionPlan.h"

namespace mp::cpu {

/// Copies a part of a panel of B, as accumulators:
///   panel[p][j] = source[first + p, column + j],  p < depth, j < tileN.
/// Columns past the last hold zeros or a column of B, so that no subnormal
/// values slow the sums. `matrix` is where the matrix begins in `source`.
struct PanelCopy {
  const ContractionSpec &spec;
  const ContractionPlan &plan;
  FlatMemory source, panel;
  mlir::Value matrix, first, column, depth;
  mlir::Value begin; ///< of the panel in its memory

  void emit(LoopBuilder &b) const;

private:
  void emitRows(LoopBuilder &b) const;
  void emitColumns(LoopBuilder &b) const;
  void emitSquare(LoopBuilder &b, mlir::Value j, mlir::Value p,
                  mlir::Value mask, int64_t rows) const;
};

/// void kernel(b, panels, begin, end): copies all of B; work items are the
/// panels.
mlir::OwningOpRef<mlir::ModuleOp> buildPanels(mlir::MLIRContext *context,
                                              const ContractionSpec &spec,
                                              const ContractionPlan &plan);

/// void kernel(a, b or its panels, [bias], c, begin, end, shared): work items
/// are the blocks of C.
mlir::OwningOpRef<mlir::ModuleOp> buildMultiply(mlir::MLIRContext *context,
                                                const ContractionSpec &spec,
                                                const ContractionPlan &plan);

/// A kernel of one launch, of operands, the bias if there is one, and the
/// result; an item does `operations` multiplications.
EmittedKernel oneProduct(llvm::StringRef symbol, const ContractionSpec &spec,
                         int64_t items, int64_t operations, int64_t scratch);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONTRACTION_CONTRACTIONCODE_H
