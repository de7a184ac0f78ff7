//===- FusionCost.h - whether to store a value or compute it again --------===//
#ifndef MP_PASSES_KERNELS_FUSIONCOST_H
#define MP_PASSES_KERNELS_FUSIONCOST_H

#include "dialect/Mp.h"
#include "llvm/ADT/SetVector.h"

namespace mp {

/// The cost of computing elementwise values again at their uses: the stored
/// values that are read for it, and the ops. Ask about ops in the order of
/// their block.
class FusionCost {
public:
  /// Whether fewer bytes move if the op's result is stored once, or too many
  /// ops would be repeated.
  bool isWorthStoring(mlir::Operation *op);

  /// Whether the op makes a small tensor, such as a number for each channel, of
  /// which a kernel over many more elements would compute each number for each
  /// of these. What belongs to a row is left out: a kernel computes it once.
  bool isWorthComputingOnce(mlir::Operation *op);

  /// Whether an expensive op is computed once where it is used, too, so that
  /// nothing but its operand is stored, as it is anyway.
  static bool isComputedAtUse(mlir::Operation *op);

  /// Marks the op's results as stored: their users read them.
  void store(mlir::Operation *op) { cones.erase(op); }

private:
  struct Cone {
    llvm::SmallSetVector<mlir::Value, 4> leaves;
    unsigned ops = 1;
  };
  const Cone &coneOf(mlir::Operation *op);

  /// The cones of values that are not stored.
  llvm::DenseMap<mlir::Operation *, Cone> cones;
};

} // namespace mp

#endif // MP_PASSES_KERNELS_FUSIONCOST_H
