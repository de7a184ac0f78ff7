//===- FusionSchedule.h - in which order items are computed -----*- C++ -*-===//
#ifndef MP_PASSES_KERNELS_FUSIONSCHEDULE_H
#define MP_PASSES_KERNELS_FUSIONSCHEDULE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace mp {

/// An op that is computed once, for scheduleItems.
struct ItemToSchedule {
  mlir::Operation *op;
  llvm::SmallVector<unsigned> sources; ///< the items that it waits for
  bool isNumber;                       ///< elementwise, of a single number
};

/// Sorts items by dependencies. `items` are in the order of the block, in which
/// they stay where nothing else is said here. Single numbers that depend on no
/// kernel come first, so that kernels that read them need not be split. Those
/// that do come when nothing else is left, so that they meet in one kernel, or
/// when they are all that the next op in the block waits for: what could run
/// before that op belongs after it, and would be held until then.
llvm::SmallVector<mlir::Operation *>
scheduleItems(llvm::ArrayRef<ItemToSchedule> items);

} // namespace mp

#endif // MP_PASSES_KERNELS_FUSIONSCHEDULE_H
