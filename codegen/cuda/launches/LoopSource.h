//===- LoopSource.h - the source of a kernel for a loop ---------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_LAUNCHES_LOOPSOURCE_H
#define MP_CODEGEN_CUDA_LAUNCHES_LOOPSOURCE_H

#include "codegen/cuda/Arch.h"
#include "codegen/cuda/KernelStore.h"
#include "codegen/cuda/contraction/LoopTile.h"
#include "llvm/ADT/SmallVector.h"

namespace mp::cuda {

/// What one step of a round becomes, or two launches that are one product.
struct LoopPart {
  /// A place, and how far from it each round finds its own, in bytes.
  struct Argument {
    BufferRef ref;
    int64_t stride = 0;
  };

  const StagePart *stage = nullptr; ///< one of these three
  const LoopProduct *product = nullptr;
  uint64_t copied = 0; ///< bytes from the second place to the first
  /// In the order of the part's parameters.
  llvm::SmallVector<Argument> arguments;
  size_t steps = 1;
  bool waits = false; ///< for the parts before it

  /// Returns how many blocks have work to do.
  int64_t blocks() const;
};

/// A loop as one kernel of LoopTile::threads threads a block. It reads its
/// addresses from a table, those of the parts one after the other.
struct LoopForm {
  int64_t rounds = 1;
  llvm::SmallVector<LoopPart> parts;

  /// Whether the parts fit one kernel.
  bool fits(const Arch &arch) const;
  /// Blocks that have work to do in a round.
  int64_t grid(const Arch &arch) const;
  uint64_t sharedBytes() const;
  /// Bytes in memory of the weights that are kept.
  uint64_t weightBytes() const;
  /// The source, with the placeholder of the kernel's name.
  std::string source() const;

private:
  /// Bytes that parts use while they run, and behind them those of each
  /// product's weights.
  uint64_t scratchBytes() const;
  uint64_t keptBytes() const;
  size_t argumentCount() const;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_LAUNCHES_LOOPSOURCE_H
