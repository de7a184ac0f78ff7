//===- StageKernel.h - a kernel of stages as text ---------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_NEST_STAGEKERNEL_H
#define MP_CODEGEN_CUDA_NEST_STAGEKERNEL_H

#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/SourceText.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

namespace mp::cuda {

/// What a printed kernel needs beside its body: parameters, shared memory, a
/// grid; and the names in it.
class StageKernel {
public:
  /// With `predicate`, a tensor<i1>, nothing is done where it is false.
  explicit StageKernel(mlir::Value predicate);

  /// The parameter that is `tensor`, a Global of its elements.
  std::string memory(mlir::Value tensor);
  /// The type of numbers of elements: int where all of them fit.
  std::string indexType() const { return index; }
  /// Everything that is indexed, rounded up to whole blocks, stays below
  /// `bound`.
  void setIndexBound(int64_t bound);

  /// An area that every use leaves free again: a pointer to `bytes` of shared
  /// memory.
  std::string scratch(uint64_t bytes);
  /// An area for good; an expression of its address.
  std::string shared(uint64_t bytes);
  uint64_t sharedBytes() const;

  NameSource names;
  SourceText body;
  int64_t grid = 1, block = 1;
  /// Numbers that the body has by name, such that it is the same for others.
  llvm::SmallVector<std::pair<std::string, int64_t>> counts;

  /// The tensors behind the parameters, in order.
  llvm::SmallVector<mlir::Value> arguments() const;
  /// Keeps the source; returns its symbol.
  std::string store(KernelStore &store) const;

private:
  llvm::MapVector<mlir::Value, std::string> parameters;
  std::string index = "long long";
  uint64_t scratchBytes = 0, ownBytes = 0;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_NEST_STAGEKERNEL_H
