//===- Exchange.h - values that ranks combine -------------------*- C++ -*-===//
#ifndef MP_PASSES_STEP_EXCHANGE_H
#define MP_PASSES_STEP_EXCHANGE_H

#include "dialect/ops/Collective.h"
#include "passes/analysis/VariableTable.h"

namespace mp {

/// Reads whether this rank takes a step of that name only for the others
/// (kIdleVariable). The variable is created if it is missing.
mlir::Value readIdle(mlir::ImplicitLocOpBuilder &builder, llvm::StringRef step,
                     VariableTable &variables);

/// Returns the combination of all ranks' values.
mlir::Value allReduce(mlir::ImplicitLocOpBuilder &builder, mlir::Value part,
                      RankReduction reduction = RankReduction::sum);

/// Returns one of two values; flags too, which mp.select does not take.
mlir::Value choose(mlir::ImplicitLocOpBuilder &builder, mlir::Value flag,
                   mlir::Value yes, mlir::Value no);

/// Moves an op to where its last operand is defined.
void moveUp(mlir::Operation *op);

/// The default size of exchanges: they take some microseconds for each message,
/// and nothing else can run while the last one is under way.
inline constexpr int64_t kBucketBytes = 4 << 20;

/// Joins the exchanges of a function that are alike, in its order, until
/// `bucket` bytes are together or something needs a result.
void joinExchanges(mlir::func::FuncOp function, int64_t bucket);

} // namespace mp

#endif // MP_PASSES_STEP_EXCHANGE_H
