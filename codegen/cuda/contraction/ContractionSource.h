//===- ContractionSource.h - the kernels of one product ---------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_CONTRACTIONSOURCE_H
#define MP_CODEGEN_CUDA_CONTRACTION_CONTRACTIONSOURCE_H

#include "codegen/Emit.h"
#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/contraction/Epilogue.h"
#include "codegen/cuda/contraction/Gemm.h"

namespace mp::cuda {

/// Prints the instantiation of kernels/gemm.cuh, and the launches of its
/// kernels.
class ContractionSource {
public:
  ContractionSource(mlir::Operation *anchor, const GemmShape &shape,
                    const GemmConfig &config, const Epilogue &epilogue,
                    KernelStore &store);

  /// Fails with a diagnostic at a stage with an op that kernels cannot have.
  llvm::FailureOr<EmittedKernel> emit();

private:
  /// A pointer that a kernel gets.
  struct Parameter {
    std::string type, name;
    int64_t count; ///< elements that it points to
    KernelArgument argument;
    /// Returns the kernel's expression for the elements.
    std::string access() const;
  };

  llvm::FailureOr<KernelLaunch> product();
  KernelLaunch shares();
  llvm::FailureOr<KernelLaunch> addition();
  /// Returns the launch that combines the parts of one reduction.
  llvm::FailureOr<KernelLaunch> combination(unsigned reduction);

  Parameter operand(mlir::Value value) const;
  Parameter result(unsigned index) const;
  Parameter partial(unsigned reduction) const;
  Parameter sums() const;
  /// Returns the number of places in memory that have a part of a reduction.
  int64_t parts(const EpilogueReduction &reduction) const;
  bool isCombined(const EpilogueReduction &reduction) const {
    return parts(reduction) > 1;
  }

  void begin(SourceText &out) const;
  void printProduct(SourceText &out) const;
  llvm::LogicalResult printEpilogue(SourceText &out, int threads,
                                    int across) const;
  std::vector<Parameter> epilogueParameters() const;
  void printFilling(SourceText &out) const;
  KernelLaunch kernel(SourceText &out, llvm::ArrayRef<Parameter> parameters,
                      int resident, const SourceText &body, int64_t grid,
                      int64_t block, uint64_t shared);

  mlir::Operation *anchor;
  GemmShape shape;
  GemmConfig config;
  const Epilogue &epilogue;
  KernelStore &store;
  mlir::Type type;
  mlir::Value bias;
  int64_t tileRows, tileColumns;
  int64_t regionM, regionN, regionRows, regionColumns;
  EmittedKernel emitted;
  llvm::SmallVector<unsigned> partialTemporaries;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_CONTRACTIONSOURCE_H
