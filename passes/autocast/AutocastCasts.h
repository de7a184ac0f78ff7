//===- AutocastCasts.h - casts of both autocast modes -----------*- C++ -*-===//
#ifndef MP_PASSES_AUTOCAST_AUTOCASTCASTS_H
#define MP_PASSES_AUTOCAST_AUTOCASTCASTS_H

#include "passes/autocast/AutocastReport.h"
#include "passes/autocast/AutocastScopes.h"

namespace mp {

/// Casts of values, each made once, directly after the value.
class CastCache {
public:
  /// Returns `value` with elements of `type`. For a value that was cast to a
  /// wider type, casts the value before that: nothing was lost in between.
  mlir::Value get(mlir::Value value, mlir::FloatType type);
  /// Casts an operand, and reports it.
  void cast(mlir::OpOperand &operand, mlir::FloatType type,
            AutocastReport &report);

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
};

/// Returns the floats of an op that a policy may cast; f64 is not among them.
llvm::SmallVector<mlir::OpOperand *> eligibleOperands(AutocastOpInterface op);

/// Lets an op that runs low, and whose result the function returns in f32,
/// yield its sums unrounded, if the policy wants that. Its operands are cast,
/// its result is not yet.
void keepReturnedSums(AutocastOpInterface op, const AutocastScope &scope,
                      AutocastReport &report);

/// Marks a contraction that runs low with the 8-bit types in which its operands
/// are kept, if the policy wants that.
void markStorage(AutocastOpInterface op, const AutocastScope &scope);

/// Reports that a policy bans an op; fails.
llvm::LogicalResult emitBanned(mlir::Operation *op, mlir::FloatType low,
                               const CastDecision &decision);
/// Fails with a diagnostic if an operand is a constant that `low` cannot hold.
llvm::LogicalResult checkConstant(mlir::OpOperand &operand, mlir::FloatType low,
                                  llvm::StringRef rule);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_AUTOCASTCASTS_H
