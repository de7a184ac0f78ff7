//===- Anchor.h - an anchor, and the stages after it ----------------------===//
//
// A kernel with an anchor holds, after it, every stage that can be computed as
// its result is stored. This file finds out which of them belong to the anchor
// by following values, and hands kernel models the answer, so that no model
// looks at the uses of a stage.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_STAGES_ANCHOR_H
#define MP_CODEGEN_STAGES_ANCHOR_H

#include "dialect/ops/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mp {

/// Returns the op of a kernel's body that has a main loop of its own, or null.
mlir::Operation *anchorOf(KernelOp kernel);

using StageList = llvm::ArrayRef<mlir::linalg::GenericOp>;

/// The stages after an anchor.
struct AnchorStages {
  explicit AnchorStages(mlir::Operation *anchor);

  mlir::Operation *anchor;
  /// All of them, in order. They may read the anchor's result, one another, and
  /// the kernel's operands; any of their results may leave the kernel.
  llvm::SmallVector<mlir::linalg::GenericOp> all;
  /// The stages that the anchor's result passes through before anything else
  /// reads it. Each is elementwise, its one input is the result of the stage
  /// before (of the anchor, for the first), and nothing else reads that.
  llvm::SmallVector<mlir::linalg::GenericOp> chain;
};

/// Whether a stage is max(x, 0) in the type of its operand, rounded or not:
/// rounding and relu may change places.
bool isRelu(mlir::linalg::GenericOp stage);

} // namespace mp

#endif // MP_CODEGEN_STAGES_ANCHOR_H
