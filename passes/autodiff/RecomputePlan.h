//===- RecomputePlan.h - values that backward computes again --------------===//
//
// A graph of a function whose backward has been built: the values of forward
// that backward uses, how long they are kept, and the cost of computing them
// again. An op is computed again directly before it is first needed, so that a
// choice of ops is the whole plan.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_AUTODIFF_RECOMPUTEPLAN_H
#define MP_PASSES_AUTODIFF_RECOMPUTEPLAN_H

#include "dialect/Mp.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

/// The location of what backward computes again of an op.
mlir::Location recomputedLocation(mlir::Operation *op);

class RecomputePlan {
public:
  /// Indexed by the position of the op in the function.
  using Choice = llvm::BitVector;
  static constexpr unsigned kNever = ~0u;

  /// The cost of a choice.
  struct Cost {
    int64_t bytes = 0; ///< the most that values of forward and those computed
                       ///< again take while backward runs
    double flops = 0;  ///< of the ops that are computed again
  };

  explicit RecomputePlan(mlir::func::FuncOp function);

  /// Returns all ops that `kept` depend on, without the ops of `kept`.
  Choice between(llvm::ArrayRef<mlir::Value> kept) const;
  /// Returns the choice of the fewest FLOPs that brings the bytes below the
  /// budget; if none does, that of the fewest bytes.
  Choice within(int64_t budget) const;

  Cost costOf(const Choice &choice) const;
  /// Rewrites the function.
  void apply(const Choice &choice);

private:
  /// The backward of one loss. Each loss computes its own values again.
  struct Backward {
    unsigned begin, end; ///< positions; the first is the seed's
    /// The first and last position that uses each value of forward.
    llvm::MapVector<mlir::Value, std::pair<unsigned, unsigned>> uses;
  };
  struct Needs {
    llvm::SmallVector<unsigned>
        first; ///< position where an op is computed again
    llvm::DenseMap<mlir::Value, unsigned>
        last; ///< last use of a value in backward
  };

  void findBackwards();
  void findRepeated();
  unsigned lastUserOf(mlir::Value value) const;
  void findRepeatable();
  void findKeptBytes();
  Needs needsOf(const Backward &backward, const Choice &choice) const;
  bool isRepeated(const Choice &choice, unsigned position) const;
  int64_t bytesOf(mlir::Value value) const;
  int64_t usedBytes(unsigned position) const;
  bool isCheap(unsigned position) const;
  bool isInChain(mlir::Value root) const;
  llvm::SmallVector<unsigned> chainOf(unsigned position) const;
  Choice cheapOnes(int64_t budget) const;
  bool crosses(mlir::Value value, unsigned cut) const;
  llvm::SmallVector<unsigned> cutInto(unsigned blocks) const;
  Choice upTo(llvm::ArrayRef<unsigned> cuts, const Choice &cheap) const;
  mlir::Value sinceAt(unsigned position, const Backward &backward) const;
  void applyTo(const Backward &backward, const Choice &choice);

  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Operation *> ops; ///< all of the function
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  unsigned forwardEnd = 0; ///< the ops before are forward's
  llvm::SmallVector<Backward> backwards;
  Choice repeatable;
  llvm::DenseSet<mlir::Value> fromSeed;
  llvm::DenseSet<mlir::Value> usedInBackward; ///< seen through reshapes
  /// By position: bytes of what backward computes again whatever the choice,
  /// that begin to be kept there, less those that end to be.
  llvm::SmallVector<int64_t> repeatedBytes;
  /// The last op of forward that uses a value of forward.
  llvm::DenseMap<mlir::Value, unsigned> lastInForward;
  llvm::SmallVector<int64_t> keptBytes; ///< by position, to compute it again
  llvm::SmallVector<int64_t> crossingBytes; ///< of the values used after an op
};

} // namespace mp

#endif // MP_PASSES_AUTODIFF_RECOMPUTEPLAN_H
