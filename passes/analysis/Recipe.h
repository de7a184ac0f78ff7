//===- Recipe.h - recipes and their functions -----------------------------===//
#ifndef MP_PASSES_ANALYSIS_RECIPE_H
#define MP_PASSES_ANALYSIS_RECIPE_H

#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "program/Names.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

/// The `mp.minimize` of each parameter that a function reads.
using ParameterAssignment = llvm::MapVector<mlir::StringAttr, MinimizeOp>;
/// Assigns parameters by the patterns of the recipe. Errors: a pattern that
/// matches nothing, a parameter that two groups claim.
llvm::FailureOr<ParameterAssignment>
assignParameters(TrainOp recipe, mlir::func::FuncOp function);
/// Whether the patterns of a group match a name. An invalid pattern matches
/// nothing.
bool claims(MinimizeOp group, llvm::StringRef name);

/// Whether a recipe or a group clips its gradients.
template <typename Op> bool clipsGradients(Op op) {
  return op.getClipNorm() || op.getClipValue();
}

/// The parameter groups of one optimizer, which skips a step for all of them.
struct OptimizerGroups {
  std::string name; ///< `optimizer_name`, or its place among all
  llvm::SmallVector<MinimizeOp, 1> groups;
};
/// Returns the optimizers of a recipe, in the order of their first groups.
llvm::SmallVector<OptimizerGroups, 1> optimizersOf(TrainOp recipe);

/// Returns the function that a recipe's entry names, once mp-autodiff has built
/// it as one block; null before.
mlir::func::FuncOp lookupStep(TrainOp recipe);

/// Returns the name of the function that takes a step's micro-batches.
std::string accumulateName(llvm::StringRef step);
/// Returns that function for a step that applies gathered gradients; null for
/// any other.
mlir::func::FuncOp lookupAccumulate(mlir::func::FuncOp step);
/// Returns the name of the step that a function is, or whose micro-batches it
/// takes.
llvm::StringRef stepName(mlir::func::FuncOp function);
/// The variable that holds the index of the micro-batch; null in a function
/// that takes none.
VariableOp lookupMicroBatch(mlir::func::FuncOp function);
/// Returns the function's `mp.phase`, or "".
llvm::StringRef phaseOf(mlir::func::FuncOp function);

/// Makes the function return more values, with one attribute on each of the
/// results.
void appendResults(mlir::func::FuncOp function,
                   llvm::ArrayRef<mlir::Value> values,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes);
/// Makes the function return one more value, with its `mp.name`.
void appendNamedResult(mlir::func::FuncOp function, mlir::Value value,
                       llvm::StringRef name);
/// Finds the returned value that has that `mp.name`, or null.
mlir::OpOperand *namedResult(mlir::func::FuncOp function, llvm::StringRef name);

/// A result that tells whether an update is skipped.
struct SkippedFlag {
  llvm::StringRef optimizer; ///< empty: any optimizer, so the statistics too
  mlir::OpOperand *returned;
};
/// Returns `skipped`, and if a step has several optimizers also
/// `skipped.<name>` of each.
llvm::SmallVector<SkippedFlag, 1> skippedFlags(mlir::func::FuncOp function);
/// Returns the flag of the optimizer of that name, or null; the only optimizer,
/// which has no name, has `skipped`.
mlir::OpOperand *skippedFlag(mlir::func::FuncOp function,
                             llvm::StringRef optimizer);
/// Adds a flag to that of an optimizer, and to `skipped`; creates these if
/// missing.
void addToSkipped(mlir::func::FuncOp function,
                  mlir::ImplicitLocOpBuilder &builder, mlir::Value flag,
                  llvm::StringRef optimizer);
/// Appends a point and the optimizer's name, if it has one, to `first`.
std::string withOptimizer(llvm::StringRef first, llvm::StringRef optimizer);

/// Returns the function that computes derived variables; creates it if missing.
mlir::func::FuncOp deriveFunction(mlir::ModuleOp module);

/// Fails, with an error, unless the presets of the choice are known.
llvm::LogicalResult checkScaler(mlir::ModuleOp module,
                                const ScalerChoice &choice);
/// Returns the preset of the loss scaler that a recipe trains with, or "none".
std::string scalerPreset(TrainOp recipe, const ScalerChoice &choice);
/// Returns the fields of that scaler, with those that the recipe sets itself.
/// The choice has been checked.
ScalerFields scalerFields(TrainOp recipe, const ScalerChoice &choice);

/// The warning for a recipe that trains in f16 and names no scaler.
inline constexpr llvm::StringLiteral kWithoutScaler =
    "trains in f16 without a loss scaler, so that small gradients become zero: "
    "write mp.scaler @scaler, and scaler(@scaler) here; with {enabled = false} "
    "where none is wanted";
/// The variable of a step's count of attempts, after the step's name and a
/// point.
inline constexpr llvm::StringLiteral kAttemptedVariable = "attempted";
/// The index of the micro-batch, after the step's name and a point.
inline constexpr llvm::StringLiteral kMicroVariable = "micro";
/// Whether a gradient in the window was not finite, after the step's name and a
/// point. If an optimizer's name follows: whether a gradient of that optimizer
/// was not finite.
inline constexpr llvm::StringLiteral kFoundInfVariable = "found_inf";

} // namespace mp

#endif // MP_PASSES_ANALYSIS_RECIPE_H
