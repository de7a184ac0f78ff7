//===- CopyCheck.h - does a new master fit its 16-bit copy? ---------------===//
#ifndef MP_PASSES_COPYCHECK_H
#define MP_PASSES_COPYCHECK_H

#include "dialect/Mp.h"

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
  mlir::Value learningRate, step;
  llvm::SmallVector<UpdatedParameter> parameters;
};

/// Adds to the step's flag whether any new copy of the group is infinite. Where
/// bounds on the group's state, kept in derived variables named after `name`,
/// prove that none is, nothing of a parameter's size is computed for it;
/// otherwise the copies are looked at, and the bounds are measured anew.
/// `@derive` measures them too.
void checkCopies(mlir::func::FuncOp step, mlir::ImplicitLocOpBuilder &builder,
                 const UpdatedGroup &group, mlir::Value gradientNorm,
                 llvm::StringRef name);

} // namespace mp

#endif // MP_PASSES_COPYCHECK_H
