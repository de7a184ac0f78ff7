//===- Recipe.h - what several passes of the step ask ---------------------===//
#ifndef MP_PASSES_RECIPE_H
#define MP_PASSES_RECIPE_H

#include "dialect/Mp.h"
#include "llvm/ADT/MapVector.h"

namespace mp {

/// Which `mp.minimize` each parameter that a function reads belongs to.
using ParameterAssignment = llvm::MapVector<mlir::StringAttr, MinimizeOp>;
/// By the patterns of the recipe. Errors: a pattern that matches nothing, a
/// parameter that two groups claim.
llvm::FailureOr<ParameterAssignment>
assignParameters(TrainOp recipe, mlir::func::FuncOp function);

/// The function that a recipe's entry names, once mp-autodiff has built it as
/// one block; null before.
mlir::func::FuncOp lookupStep(TrainOp recipe);

/// Returns one more value, with one attribute on the result.
void appendResult(mlir::func::FuncOp function, mlir::Value value,
                  mlir::NamedAttribute attribute);
void appendNamedResult(mlir::func::FuncOp function, mlir::Value value,
                       llvm::StringRef name);
/// The returned value that has that `mp.name`, or null.
mlir::OpOperand *namedResult(mlir::func::FuncOp function, llvm::StringRef name);

/// The value returned as `skipped`, where `flag` is added to it; set up where
/// missing.
void addToSkipped(mlir::func::FuncOp function,
                  mlir::ImplicitLocOpBuilder &builder, mlir::Value flag);

/// Whether a write is of a variable that every try changes, skipped or not: of
/// a scaler's or a count's.
bool countsTries(WriteOp write);

/// The module's variable of that name, kind and type, which recipes share; or
/// a new one behind the last.
VariableOp createVariable(mlir::ModuleOp module, mlir::Location location,
                          llvm::StringRef name, mlir::RankedTensorType type,
                          StateKind kind, double initial);

/// Variables that are derived from the one of that name.
llvm::SmallVector<VariableOp> derivedFrom(mlir::ModuleOp module,
                                          llvm::StringRef name);

/// The function that computes derived variables, set up where missing.
mlir::func::FuncOp deriveFunction(mlir::ModuleOp module);

inline constexpr llvm::StringLiteral kSkippedResult = "skipped";
inline constexpr llvm::StringLiteral kScaleResult = "scale";
inline constexpr llvm::StringLiteral kLearningRateResult = "lr";
inline constexpr llvm::StringLiteral kGradientNormResult = "grad_norm";
inline constexpr llvm::StringLiteral kDeriveFunction = "derive";
inline constexpr llvm::StringLiteral kEvaluateFunction = "evaluate";

} // namespace mp

#endif // MP_PASSES_RECIPE_H
