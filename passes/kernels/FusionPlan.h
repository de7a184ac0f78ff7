//===- FusionPlan.h - which ops make a kernel -----------------------------===//
//
// Items are the ops that must be computed exactly once: reductions, expensive
// ops, anchors, and whatever a value outside of kernels needs (a write, a
// result, an anchor's operand). Everything else is cheap and is computed again
// in each kernel that uses it, which moves fewer bytes than storing it. Items
// over the same elements that share inputs go into one group, unless an order
// between groups forbids it. Finally, groups that an anchor's kernel can
// compute as it stores its result join it.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_KERNELS_FUSIONPLAN_H
#define MP_PASSES_KERNELS_FUSIONPLAN_H

#include "dialect/Mp.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mp {

/// One future kernel.
struct FusionGroup {
  llvm::SmallVector<mlir::Operation *> items;
  llvm::SmallVector<int64_t> domain; ///< sizes of the loops, without ones
  /// How many of these are rows, if a reduction tells rows and columns apart.
  std::optional<unsigned> rowDims;
  mlir::Value predicate; ///< all results are written under this flag
  bool closed = false;   ///< an anchor or a transpose: takes no more items, but
                         ///< an anchor, which is the first, may take groups
  llvm::SetVector<mlir::Value> inputs;
  llvm::DenseSet<mlir::Value> memory; ///< the tensors in which the inputs are
};

class FusionPlan {
public:
  /// The value that each `mp.recompute_barrier` makes its users wait for.
  using Sinces = llvm::DenseMap<mlir::Operation *, mlir::Value>;

  FusionPlan(mlir::func::FuncOp function, Sinces sinces);

  /// Returns the groups in a valid order of execution.
  llvm::ArrayRef<FusionGroup> groups() const { return all; }
  /// Whether a value is computed at its uses, in any group but its own.
  bool isInlined(mlir::Value value, unsigned group) const;

private:
  struct Dependencies {
    llvm::SetVector<mlir::Value>
        inputs; ///< values that must exist, of items or not
  };

  void findItems();
  bool isItem(mlir::Operation *op) const { return items.count(op); }
  mlir::Value predicateOf(mlir::Operation *op) const;
  Dependencies dependenciesOf(mlir::Operation *op) const;
  mlir::Operation *sourceOf(mlir::Value value) const;
  llvm::SmallVector<mlir::Operation *> schedule();
  void place(mlir::Operation *op);
  llvm::SmallVector<unsigned>
  candidatesFor(mlir::Operation *op, const Dependencies &dependencies) const;
  bool accepts(unsigned group, mlir::Operation *op,
               const Dependencies &dependencies) const;

  // FusionAnchors.cpp
  void joinAnchors();
  bool canJoin(unsigned group, unsigned anchored) const;
  bool standsAt(llvm::ArrayRef<int64_t> shape, const FusionGroup &group) const;
  bool standsAt(llvm::ArrayRef<int64_t> shape, mlir::Operation *item) const;
  llvm::SetVector<unsigned> sourcesOf(unsigned group) const;
  bool dependsOn(unsigned group, unsigned other) const;
  void measureHeights();
  void join(unsigned group, unsigned anchored);
  void sortGroups();

  mlir::func::FuncOp function;
  Sinces sinces;
  llvm::MapVector<mlir::Operation *, mlir::Value>
      items; ///< with their predicates, or null
  llvm::DenseMap<mlir::Operation *, mlir::Operation *>
      taken; ///< by an anchor, as its epilogue
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
  llvm::SmallVector<FusionGroup> all;
  /// Groups that may take more items, by the tensors that they read.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> readersOf;
  llvm::SmallVector<unsigned> numberGroups; ///< those of single numbers
  /// A group is at least as high as those that it reads from.
  llvm::SmallVector<unsigned> heights;
  llvm::SmallVector<llvm::SmallVector<unsigned>>
      users; ///< the groups that read from it
};

/// Returns the ops after an anchor that its kernel may take in: a chain of
/// elementwise ops of one operand, each the only use of the one before.
llvm::SmallVector<mlir::Operation *> epilogueOf(mlir::Operation *anchor);

/// Whether the op only computes elements, with no state and no main loop.
bool isElementwise(mlir::Operation *op);

} // namespace mp

#endif // MP_PASSES_KERNELS_FUSIONPLAN_H
