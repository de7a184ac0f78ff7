//===- Epilogue.h - stages inside a product's kernel ------------*- C++ -*-===//
//
// The stages after an anchor are seen as working on a matrix: the anchor's
// result with all dimensions but the last as rows. A kernel takes in those that
// need only the values of one place to compute that place, and reductions down
// the columns or over everything.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_EPILOGUE_H
#define MP_CODEGEN_CUDA_CONTRACTION_EPILOGUE_H

#include "codegen/cuda/SourceText.h"
#include "codegen/stages/Anchor.h"
#include "codegen/stages/StageGroup.h"

namespace mp::cuda {

/// A tensor in memory that an epilogue reads or writes.
struct EpilogueTensor {
  mlir::Value value;
  Space space = Space::Full;
  unsigned index = 0; ///< of the kernel's operands, or results
};

/// A reduction; its result is stored as `result` of the kernel.
struct EpilogueReduction {
  mlir::linalg::GenericOp stage;
  unsigned result = 0;
  bool isTotal() const;
  /// The type of an accumulator.
  mlir::Type type() const;
  /// Its value before any element; combining it changes nothing.
  mlir::TypedAttr start() const;
};

class Epilogue {
public:
  /// Returns how many of the stages after `anchor`, in order, a kernel can take
  /// in. Not all kernels can reduce down columns.
  static unsigned accepts(mlir::Operation *anchor, StageList stages,
                          bool reducesColumns = true);

  /// Looks at the body of a kernel whose anchor is followed by `stages`, all of
  /// them accepted. The sums of a kernel come in `across` matrices side by
  /// side. Fails with a diagnostic at a result that no stage makes.
  static llvm::FailureOr<Epilogue> get(mlir::Operation *anchor,
                                       StageList stages, int64_t across = 1);

  int64_t rows() const { return allRows; }
  int64_t columns() const { return allColumns; }
  /// Returns the elements of a row that are handled at once.
  int width() const;
  llvm::ArrayRef<EpilogueTensor> reads() const { return operands; }
  llvm::ArrayRef<EpilogueTensor> writes() const { return results; }
  llvm::ArrayRef<EpilogueReduction> reductions() const { return reduced; }

  /// Prints `struct CombineN` for each reduction and `struct Epilogue`, as
  /// gemm-epilogue.cuh requires it, for blocks of `threads` that have `across`
  /// columns. Members: operandN and resultN, partialN for reduction N. `bias`,
  /// if any, is added to the sums before they are rounded to `type`. Fails with
  /// a diagnostic at an op that kernels cannot have.
  llvm::LogicalResult print(SourceText &out, llvm::StringRef sumType,
                            mlir::Type type, mlir::Value bias, int threads,
                            int across) const;
  /// Prints `struct NAME`, which combines parts of a reduction.
  static llvm::LogicalResult printCombiner(SourceText &out,
                                           const EpilogueReduction &reduction,
                                           const llvm::Twine &name);

private:
  friend class EpiloguePrinter;
  void addRead(mlir::Value value, Space space);

  mlir::Value anchor;
  int64_t allRows = 1, allColumns = 1, matrixColumns = 1;
  llvm::SmallVector<mlir::linalg::GenericOp> stages;
  llvm::SmallVector<EpilogueTensor> operands, results;
  llvm::SmallVector<EpilogueReduction> reduced;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_EPILOGUE_H
