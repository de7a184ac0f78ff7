//===- KernelShape.h - the fewest dimensions a kernel can do with ---------===//
#ifndef MP_PASSES_KERNELS_KERNELSHAPE_H
#define MP_PASSES_KERNELS_KERNELSHAPE_H

#include "dialect/Mp.h"

namespace mp {

/// Which row of an operand the loops are at, if it has fewer rows than they: a
/// mask for all heads.
struct RepeatedRow {
  mlir::AffineExpr row; ///< of the loop over rows
  int64_t count;        ///< the operand's rows
};

/// The loops of one op of a kernel: their sizes, and the dimensions of these
/// that each operand and the result have, in order. Dimensions of size one are
/// dropped.
struct StageShape {
  mlir::Operation *op;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<llvm::SmallVector<unsigned>> operands;
  llvm::SmallVector<unsigned> result;
  std::optional<unsigned>
      iotaDim; ///< nullopt for no iota, or one along a single element
  /// By operand; empty if no operand repeats rows. Such an operand's dimensions
  /// begin with that of the rows.
  llvm::DenseMap<unsigned, RepeatedRow> repeated =
      llvm::DenseMap<unsigned, RepeatedRow>();
};

/// Returns the stages of a kernel's ops, in order, with adjacent dimensions
/// merged that all tensors have together: [n] if that is possible, else [rows,
/// columns], where operands from memory may repeat rows, else unmerged. Ops
/// that only rename (reshapes that add ones) have no stage.
llvm::SmallVector<StageShape> shapeStages(mlir::Block &kernel);

/// Returns the same for a kernel that has to have [rows, columns]; nothing if
/// it cannot.
std::optional<llvm::SmallVector<StageShape>>
shapeStagesInRows(mlir::Block &kernel, int64_t rows);

/// Returns the number of rows of a kernel's inputs and results that are parts
/// of other tensors; nothing if none is.
std::optional<int64_t> rowsOf(KernelOp kernel);

/// Whether a kernel can have `rows` rows, in which all of `value`, an argument
/// or a yielded value, is seen at once.
bool isWholeInRows(mlir::Block &kernel, int64_t rows, mlir::Value value);

/// Returns one op's stage with all dimensions kept. Operands of fewer
/// dimensions have the last ones.
StageShape shapeAsIs(mlir::Operation *op);

/// Whether elementwise ops and reductions are all that uses a value: loops,
/// which can read it where it lies in another tensor.
bool isReadByLoops(mlir::Value value);

} // namespace mp

#endif // MP_PASSES_KERNELS_KERNELSHAPE_H
