//===- FusionCost.h - whether to store a value or compute it again --------===//
#ifndef MP_PASSES_KERNELS_FUSIONCOST_H
#define MP_PASSES_KERNELS_FUSIONCOST_H

#include "dialect/Mp.h"
#include "llvm/ADT/SetVector.h"

namespace mp {

/// What it takes to compute elementwise values again where they are used: the
/// stored values that are read for it, and the ops. Asked about ops in the
/// order of their block.
class FusionCost {
public:
  /// Whether fewer bytes move if the op's result is stored once, or too many
  /// ops would be repeated.
  bool isWorthStoring(mlir::Operation *op);

  /// Says that the op's results are stored: who uses them reads them.
  void store(mlir::Operation *op) { cones.erase(op); }

private:
  struct Cone {
    llvm::SmallSetVector<mlir::Value, 4> leaves;
    unsigned ops = 1;
  };
  const Cone &coneOf(mlir::Operation *op);

  /// Of values that are not stored.
  llvm::DenseMap<mlir::Operation *, Cone> cones;
};

} // namespace mp

#endif // MP_PASSES_KERNELS_FUSIONCOST_H
