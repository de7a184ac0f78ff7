//===- ContractionSource.h - the kernels of one product ---------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_CONTRACTIONSOURCE_H
#define MP_CODEGEN_CUDA_CONTRACTION_CONTRACTIONSOURCE_H

#include "codegen/Emit.h"
#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/contraction/Epilogue.h"
#include "codegen/cuda/contraction/Gemm.h"
#include "codegen/cuda/contraction/LoopTile.h"

namespace mp::cuda {

/// A product, and where its operands and its result lie.
struct ProductForm {
  /// That of dense matrices, which a tuning plan knows.
  static ProductForm matrices(const GemmShape &shape);
  /// Returns the shared memory that a block needs.
  uint64_t sharedBytes(const GemmConfig &config) const;

  GemmShape shape;
  std::string name;                  ///< as a tuning plan has it
  std::string path;                  ///< mp::Path of the kernels
  std::string header = "gemm.cuh";   ///< has `operands`
  std::string operands = "Matrices"; ///< the class template, as gemm.cuh says
  std::vector<std::string> lines; ///< further ones of the struct of constants
  /// Matrices of the batch that lie side by side in the result; the others lie
  /// below one another.
  int64_t across = 1;
  /// Whether tiles of operands come through a ring in shared memory.
  bool hasRing = true;
  /// Whether the places of a tile's rows lie behind it (conv.cuh).
  bool hasPlaces = false;
};

/// Prints the instantiation of kernels/gemm.cuh, and the launches of its
/// kernels.
class ContractionSource {
public:
  ContractionSource(mlir::Operation *anchor, const ProductForm &form,
                    const GemmConfig &config, const Epilogue &epilogue,
                    KernelStore &store);

  /// Fails with a diagnostic at a stage with an op that kernels cannot have.
  llvm::FailureOr<EmittedKernel> emit();
  /// Lets the kernel of a loop have this product, whose launches are `emitted`,
  /// if it is one of those that such kernels have and its columns fit into the
  /// shared memory of a block.
  void offerToLoops(const EmittedKernel &emitted, const Arch &arch);

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
  /// Returns the call of a function of gemm.cuh, up to its arguments.
  std::string callOf(llvm::StringRef function) const;
  void printProduct(SourceText &out) const;
  llvm::LogicalResult printEpilogue(SourceText &out, int threads,
                                    int across) const;
  std::vector<Parameter> epilogueParameters() const;
  void printFilling(SourceText &out) const;
  /// Returns the text of a LoopProduct; fails as `emit` does.
  llvm::FailureOr<std::string> printForLoops(const LoopTile &tile,
                                             llvm::ArrayRef<Parameter>) const;
  KernelLaunch kernel(SourceText &out, llvm::ArrayRef<Parameter> parameters,
                      int resident, const SourceText &body, int64_t grid,
                      int64_t block, uint64_t shared);

  mlir::Operation *anchor;
  const ProductForm &form;
  const GemmShape &shape;
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
