//===- CopyCheck.h - does a new master fit its 16-bit copy? ---------------===//
#ifndef MP_PASSES_STEP_COPYCHECK_H
#define MP_PASSES_STEP_COPYCHECK_H

#include "dialect/ops/State.h"

namespace mp {

/// A parameter that has f16 copies, as a step updates it.
struct UpdatedParameter {
  VariableOp variable;
  llvm::SmallVector<std::string> slotNames;
  mlir::Value parameter; ///< new
  llvm::SmallVector<mlir::Value> slots, copies;
};

/// Parameters that one optimizer updates at one learning rate.
struct UpdatedGroup {
  OptimizerAttrInterface optimizer;
  mlir::Value learningRate, step, gradientNorm;
  mlir::Value skipped; ///< whether a gradient skips its update, or null
  /// The name of its optimizer, empty where the step has one.
  std::string optimizerName;
  llvm::SmallVector<UpdatedParameter> parameters;
};

/// Adds to the optimizer's flag whether any new copy of the group is infinite.
/// Bounds on the group's state, in derived variables named after `name`, may
/// prove that none is, and then nothing of a parameter's size is computed for
/// it; otherwise the copies are checked, and the bounds are measured anew.
/// `@derive` measures them too. Returns the writes of the bounds.
llvm::SmallVector<WriteOp> checkCopies(mlir::func::FuncOp step,
                                       mlir::ImplicitLocOpBuilder &builder,
                                       const UpdatedGroup &group,
                                       llvm::StringRef name);

} // namespace mp

#endif // MP_PASSES_STEP_COPYCHECK_H
