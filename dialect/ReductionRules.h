//===- ReductionRules.h - rules that reductions share ---------------------===//
#ifndef MP_DIALECT_REDUCTIONRULES_H
#define MP_DIALECT_REDUCTIONRULES_H

#include "dialect/Expression.h"

namespace mp {

/// Type rule of reductions over `dims`, ascending and without repeats.
llvm::LogicalResult inferReduction(std::optional<mlir::Location> location,
                                   mlir::Value input,
                                   llvm::ArrayRef<int64_t> dims, bool keepdim,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Type rule of ops that map a reduction's gradient to that of its operand.
llvm::LogicalResult
inferReductionBackward(std::optional<mlir::Location> location,
                       mlir::Value gradient, mlir::Value input,
                       llvm::ArrayRef<int64_t> dims, bool keepdim,
                       llvm::SmallVectorImpl<mlir::Type> &types);

/// Fails if a reduced dimension is empty, for reductions without a neutral
/// element.
llvm::LogicalResult checkNotEmpty(std::optional<mlir::Location> location,
                                  mlir::Value input,
                                  llvm::ArrayRef<int64_t> dims);

/// The number of elements that are reduced to one.
double reducedCount(mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// A value of a reduction's result with the reduced dimensions restored, of
/// size one, so that it broadcasts against the operand.
mlir::Value withReducedDims(mlir::ImplicitLocOpBuilder &builder,
                            mlir::Value value, mlir::Value input,
                            llvm::ArrayRef<int64_t> dims);

/// The inverse: takes a value whose reduced dimensions have size one, and
/// returns it in the shape of the reduction's result.
mlir::Value asReduced(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                      llvm::ArrayRef<int64_t> dims, bool keepdim);

/// Reductions of a tensor that keep the reduced dimensions, with size one.
Expression sumOver(Expression x, llvm::ArrayRef<int64_t> dims);
Expression maxOver(Expression x, llvm::ArrayRef<int64_t> dims);
Expression minOver(Expression x, llvm::ArrayRef<int64_t> dims);

} // namespace mp

#endif // MP_DIALECT_REDUCTIONRULES_H
