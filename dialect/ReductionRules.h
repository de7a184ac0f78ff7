//===- ReductionRules.h - what ops that reduce dimensions share -----------===//
#ifndef MP_DIALECT_REDUCTIONRULES_H
#define MP_DIALECT_REDUCTIONRULES_H

#include "dialect/Expression.h"

namespace mp {

/// Type rule of reductions over `dims`, ascending and without repeats.
llvm::LogicalResult inferReduction(std::optional<mlir::Location> location,
                                   mlir::Value input,
                                   llvm::ArrayRef<int64_t> dims, bool keepdim,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Type rule of what leads back from a reduction's gradient to its operand.
llvm::LogicalResult
inferReductionBackward(std::optional<mlir::Location> location,
                       mlir::Value gradient, mlir::Value input,
                       llvm::ArrayRef<int64_t> dims, bool keepdim,
                       llvm::SmallVectorImpl<mlir::Type> &types);

/// Fails where a reduced dimension has no element, for reductions that no
/// element has a result of.
llvm::LogicalResult checkNotEmpty(std::optional<mlir::Location> location,
                                  mlir::Value input,
                                  llvm::ArrayRef<int64_t> dims);

/// Elements that fall into one of the result.
double reducedCount(mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// A value of a reduction's result with the reduced dimensions in place, of
/// size one: it broadcasts against the operand.
mlir::Value withReducedDims(mlir::ImplicitLocOpBuilder &builder,
                            mlir::Value value, mlir::Value input,
                            llvm::ArrayRef<int64_t> dims);

/// The other way round: a value whose reduced dimensions have size one, as the
/// reduction returns it.
mlir::Value asReduced(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                      llvm::ArrayRef<int64_t> dims, bool keepdim);

/// Reductions of a tensor that keep the reduced dimensions, with size one.
Expression sumOver(Expression x, llvm::ArrayRef<int64_t> dims);
Expression maxOver(Expression x, llvm::ArrayRef<int64_t> dims);
Expression minOver(Expression x, llvm::ArrayRef<int64_t> dims);

} // namespace mp

#endif // MP_DIALECT_REDUCTIONRULES_H
