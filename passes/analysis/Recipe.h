//===- Recipe.h - what several passes of the step ask ---------------------===//
#ifndef MP_PASSES_ANALYSIS_RECIPE_H
#define MP_PASSES_ANALYSIS_RECIPE_H

#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "program/Names.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

/// Which `mp.minimize` each parameter that a function reads belongs to.
using ParameterAssignment = llvm::MapVector<mlir::StringAttr, MinimizeOp>;
/// By the patterns of the recipe. Errors: a pattern that matches nothing, a
/// parameter that two groups claim.
llvm::FailureOr<ParameterAssignment>
assignParameters(TrainOp recipe, mlir::func::FuncOp function);
/// Whether the patterns of a group take a name in. A pattern that is none takes
/// nothing in.
bool claims(MinimizeOp group, llvm::StringRef name);

/// The parameter groups of one optimizer, which skips a step as one.
struct OptimizerGroups {
  std::string name; ///< `optimizer_name`, or its place among all
  llvm::SmallVector<MinimizeOp, 1> groups;
};
/// Of a recipe, in the order of their first groups.
llvm::SmallVector<OptimizerGroups, 1> optimizersOf(TrainOp recipe);

/// The function that a recipe's entry names, once mp-autodiff has built it as
/// one block; null before.
mlir::func::FuncOp lookupStep(TrainOp recipe);

/// The name of the function that takes a step's micro-batches.
std::string accumulateName(llvm::StringRef step);
/// That function, of a step that applies what it gathers; null of any other.
mlir::func::FuncOp lookupAccumulate(mlir::func::FuncOp step);
/// The name of the step that a function is, or whose micro-batches it takes.
llvm::StringRef stepName(mlir::func::FuncOp function);
/// The variable that holds the index of the micro-batch; null in a function
/// that takes none.
VariableOp lookupMicroBatch(mlir::func::FuncOp function);
/// The function's `mp.phase`, or "".
llvm::StringRef phaseOf(mlir::func::FuncOp function);

/// Returns more values, with one attribute on each of the results.
void appendResults(mlir::func::FuncOp function,
                   llvm::ArrayRef<mlir::Value> values,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes);
/// Returns one more value, with its `mp.name`.
void appendNamedResult(mlir::func::FuncOp function, mlir::Value value,
                       llvm::StringRef name);
/// The returned value that has that `mp.name`, or null.
mlir::OpOperand *namedResult(mlir::func::FuncOp function, llvm::StringRef name);

/// A result that says whether something is skipped.
struct SkippedFlag {
  llvm::StringRef optimizer; ///< empty: any of them, and so the statistics
  mlir::OpOperand *returned;
};
/// `skipped`, and where a step has several optimizers `skipped.<name>` of each.
llvm::SmallVector<SkippedFlag, 1> skippedFlags(mlir::func::FuncOp function);
/// The flag of the optimizer of that name, or null; of the only one, which has
/// no name, `skipped`.
mlir::OpOperand *skippedFlag(mlir::func::FuncOp function,
                             llvm::StringRef optimizer);
/// Adds a flag to that of an optimizer, and to `skipped`; set up where missing.
void addToSkipped(mlir::func::FuncOp function,
                  mlir::ImplicitLocOpBuilder &builder, mlir::Value flag,
                  llvm::StringRef optimizer);
/// Behind `first`: a point and the optimizer's name, if it has one.
std::string withOptimizer(llvm::StringRef first, llvm::StringRef optimizer);

/// The function that computes derived variables, set up where missing.
mlir::func::FuncOp deriveFunction(mlir::ModuleOp module);

/// Fails, with an error, unless `given` is what mp-loss-scale may be told.
llvm::LogicalResult checkScaler(mlir::ModuleOp module, llvm::StringRef given);
/// The preset of the loss scaler that a recipe trains with; `given` is what
/// mp-loss-scale is told. "none": there is none.
std::string scalerPreset(TrainOp recipe, llvm::StringRef given);
/// What that scaler is, with the fields that the recipe's writes itself;
/// `given` is as above, and checked.
ScalerFields scalerFields(TrainOp recipe, llvm::StringRef given);

/// What a recipe that trains in f16 and names no scaler is told.
inline constexpr llvm::StringLiteral kWithoutScaler =
    "trains in f16 without a loss scaler, so that small gradients become zero: "
    "write mp.scaler @scaler, and scaler(@scaler) here; with {enabled = false} "
    "where none is wanted";
/// The step's count of attempts, after its name and a point.
inline constexpr llvm::StringLiteral kAttemptedVariable = "attempted";
/// The index of the micro-batch, after the step's name and a point.
inline constexpr llvm::StringLiteral kMicroVariable = "micro";
/// Whether a gradient in the window was not finite, after the step's name and a
/// point; followed by an optimizer's name, whether one of that optimizer's was
/// not.
inline constexpr llvm::StringLiteral kFoundInfVariable = "found_inf";

} // namespace mp

#endif // MP_PASSES_ANALYSIS_RECIPE_H
