//===- Lint.h - the checks of mp-lint ---------------------------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_LINT_H
#define MP_PASSES_INSPECT_LINT_H

#include "dialect/ops/Recipe.h"
#include "passes/analysis/Ranges.h"
#include "passes/inspect/LintFindings.h"

namespace mp {

/// Finds constants and epsilons that a type of 16 bits or less loses.
void lintConstants(mlir::func::FuncOp function, const Ranges &certain,
                   LintFindings &findings);
/// Finds reductions and contractions whose worst case is beyond f16, if numbers
/// of unknown size are at most `magnitude`.
void lintSums(mlir::func::FuncOp function, const Ranges &assumed,
              double magnitude, LintFindings &findings);
/// Finds exponentials and powers of numbers that nothing bounds.
void lintExponentials(mlir::func::FuncOp function, const Ranges &certain,
                      LintFindings &findings);
/// Finds f16 without a scaler, parameters without a master or without a
/// gradient. Fails with a diagnostic if the recipe's patterns are wrong.
llvm::LogicalResult lintRecipe(TrainOp recipe, mlir::func::FuncOp function,
                               bool hasMasterWeights, LintFindings &findings);

} // namespace mp

#endif // MP_PASSES_INSPECT_LINT_H
