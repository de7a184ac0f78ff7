//===- RankStatistics.h - statistics of several ranks -----------*- C++ -*-===//
#ifndef MP_PASSES_STEP_RANKSTATISTICS_H
#define MP_PASSES_STEP_RANKSTATISTICS_H

#include "passes/analysis/VariableTable.h"

namespace mp {

/// Gives the variables that a step writes from a rank's rows (running means)
/// the values that they would have if ranks took the step one after the other.
/// What a rank adds is gathered from all, and every rank computes the values in
/// their order. `idle` says whether a rank has no rows, and so adds nothing. A
/// write under a condition is an error.
llvm::LogicalResult chainStatistics(mlir::func::FuncOp step, int64_t ranks,
                                    mlir::Value idle,
                                    const VariableTable &variables);

} // namespace mp

#endif // MP_PASSES_STEP_RANKSTATISTICS_H
