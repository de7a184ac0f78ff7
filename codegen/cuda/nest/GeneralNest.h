//===- GeneralNest.h - a stage of any maps, being printed -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_NEST_GENERALNEST_H
#define MP_CODEGEN_CUDA_NEST_GENERALNEST_H

#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/nest/StageKernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mp::cuda {

class GeneralNest {
public:
  GeneralNest(mlir::linalg::GenericOp stage, StageKernel &kernel);

  llvm::LogicalResult print();

private:
  using Names = llvm::SmallVector<std::string>;

  // Choice of the form.
  bool isContiguous(mlir::AffineMap map, int loop) const;
  void chooseWidth();
  int findTileLoop() const;
  /// Returns the threads for one result: 1, a warp or a block.
  int64_t threadsForResult() const;

  // The forms.
  void printItems();
  void printTogether(int64_t across);
  void printTiles(int tileLoop);
  void tileLines(int tileLoop, llvm::StringRef line, llvm::StringRef tile,
                 const SourceText &inner);

  // Parts of the forms.
  void split(SourceText &to, const std::string &number,
             llvm::ArrayRef<unsigned> loops);
  void setIndex(SourceText &to, unsigned loop, const std::string &text);
  void computeAndStore(SourceText &to, llvm::ArrayRef<std::string> results);
  Names compute(SourceText &to, llvm::ArrayRef<std::string> accumulators,
                mlir::ValueRange wanted);
  std::string read(SourceText &to, mlir::OpOperand &operand);
  std::string address(mlir::Value tensor, mlir::AffineMap map);
  std::string print(mlir::AffineExpr expr) const;
  std::string number(int64_t value) const;

  mlir::linalg::GenericOp stage;
  StageKernel &kernel;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<unsigned> parallel; ///< in the order of the first result
  llvm::SmallVector<unsigned> reduced;
  int lineLoop = -1; ///< the loop along which results are contiguous
  int64_t width = 1; ///< neighbours along the line that a thread computes
  Names indices;
  llvm::DenseMap<mlir::OpOperand *, std::string> known;
  bool failed = false;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_NEST_GENERALNEST_H
