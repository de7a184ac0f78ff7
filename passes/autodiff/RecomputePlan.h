//===- RecomputePlan.h - what backward computes again ---------------------===//
//
// A graph of a function whose backward has been built: which values of forward
// backward uses, how long they are kept, and what it costs to compute them
// again. An op is computed again directly before it is first needed, so that
// a choice of ops is the whole plan.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_AUTODIFF_RECOMPUTEPLAN_H
#define MP_PASSES_AUTODIFF_RECOMPUTEPLAN_H

#include "dialect/Mp.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

class RecomputePlan {
public:
  /// By position of the op in the function.
  using Choice = llvm::BitVector;
  static constexpr unsigned kNever = ~0u;

  /// What a choice comes to.
  struct Cost {
    int64_t bytes = 0; ///< the most that values of forward and those computed
                       ///< again take while backward runs
    double flops = 0;  ///< of what is computed again
  };

  explicit RecomputePlan(mlir::func::FuncOp function);

  /// All that `kept` depend on but these.
  Choice between(llvm::ArrayRef<mlir::Value> kept) const;
  /// The fewest FLOPs that bring the bytes below the budget; where none do, the
  /// fewest bytes.
  Choice within(int64_t budget) const;

  Cost costOf(const Choice &choice) const;
  /// Rewrites the function.
  void apply(const Choice &choice);

private:
  /// One for each loss that is differentiated: it computes for itself.
  struct Backward {
    unsigned begin, end; ///< positions, the seed's first
    /// Of values of forward, the first and last position that uses them.
    llvm::MapVector<mlir::Value, std::pair<unsigned, unsigned>> uses;
  };
  struct Needs {
    llvm::SmallVector<unsigned> first; ///< where an op is computed again
    llvm::DenseMap<mlir::Value, unsigned> last; ///< use of a value in backward
  };

  void findBackwards();
  void findRepeatable();
  Needs needsOf(const Backward &backward, const Choice &choice) const;
  bool isRepeated(const Choice &choice, unsigned position) const;
  int64_t bytesOf(mlir::Value value) const;
  int64_t usedBytes(unsigned position) const;
  Choice cheapOnes(int64_t budget) const;
  bool crosses(mlir::Value value, unsigned cut) const;
  llvm::SmallVector<unsigned> cutInto(unsigned blocks) const;
  Choice upTo(llvm::ArrayRef<unsigned> cuts, const Choice &cheap) const;
  mlir::Value sinceAt(unsigned position, const Backward &backward) const;
  void applyTo(const Backward &backward, const Choice &choice);

  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Operation *> ops; ///< all of the function
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  unsigned forwardEnd = 0; ///< ops before are forward's
  llvm::SmallVector<Backward> backwards;
  Choice repeatable;
  llvm::DenseSet<mlir::Value> fromSeed;
  llvm::DenseSet<mlir::Value> usedInBackward; ///< behind reshapes
  /// Of values of forward, the last op of forward that uses it.
  llvm::DenseMap<mlir::Value, unsigned> lastInForward;
  llvm::SmallVector<int64_t> crossingBytes; ///< of what is used behind an op
};

} // namespace mp

#endif // MP_PASSES_AUTODIFF_RECOMPUTEPLAN_H
