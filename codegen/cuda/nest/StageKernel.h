//===- StageKernel.h - a kernel of stages as text ---------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_NEST_STAGEKERNEL_H
#define MP_CODEGEN_CUDA_NEST_STAGEKERNEL_H

#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/SourceText.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

namespace mp::cuda {

/// The parts of a printed kernel beside its body: parameters, shared memory, a
/// grid; and the names in it.
class StageKernel {
public:
  /// With `predicate`, a tensor<i1>, the kernel does nothing if it is false.
  explicit StageKernel(mlir::Value predicate);

  /// The parameter that is `tensor`, a Global of its elements.
  std::string memory(mlir::Value tensor);
  /// Returns the type of numbers of elements: int if all of them fit.
  std::string indexType() const { return index; }
  /// Asserts that every index, rounded up to whole blocks, stays below `bound`.
  void setIndexBound(int64_t bound);

  /// Returns a pointer to `bytes` of shared memory, an area that every use
  /// leaves free again.
  std::string scratch(uint64_t bytes);
  /// Reserves an area for the whole kernel; returns an expression of its
  /// address.
  std::string shared(uint64_t bytes);
  uint64_t sharedBytes() const;

  NameSource names;
  SourceText body;
  int64_t grid = 1, block = 1;
  /// Numbers that are parameters of the body, so that kernels that differ only
  /// in these share it.
  llvm::SmallVector<std::pair<std::string, int64_t>> counts;

  /// The tensors that the parameters point to, in order.
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
