//===- AutocastCasts.h - what both modes of autocast do ---------*- C++ -*-===//
#ifndef MP_PASSES_AUTOCAST_AUTOCASTCASTS_H
#define MP_PASSES_AUTOCAST_AUTOCASTCASTS_H

#include "passes/autocast/AutocastReport.h"
#include "passes/autocast/AutocastScopes.h"

namespace mp {

/// Casts of values, each made once, right behind the value.
class CastCache {
public:
  /// `value` with elements of `type`. A value that was cast to a wider type is
  /// taken from before that: nothing was lost in between.
  mlir::Value get(mlir::Value value, mlir::FloatType type);
  /// Casts an operand, and reports it.
  void cast(mlir::OpOperand &operand, mlir::FloatType type,
            AutocastReport &report);

private:
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> casts;
};

/// The floats of an op that a policy may cast; f64 is none of them.
llvm::SmallVector<mlir::OpOperand *> eligibleOperands(AutocastOpInterface op);

/// Lets an op that runs low, and whose result the function returns in f32,
/// yield its sums unrounded, where the policy wants that. Its operands are
/// cast, its result is not yet.
void keepReturnedSums(AutocastOpInterface op, const AutocastScope &scope,
                      AutocastReport &report);

/// Says on a contraction that runs low in which 8-bit types its operands are to
/// be kept, where the policy wants that.
void markStorage(AutocastOpInterface op, const AutocastScope &scope);

/// Says that a policy bans an op; fails.
llvm::LogicalResult emitBanned(mlir::Operation *op, mlir::FloatType low,
                               const Judgement &judgement);
/// Fails with a diagnostic where an operand is a constant that `low` cannot
/// hold.
llvm::LogicalResult checkConstant(mlir::OpOperand &operand, mlir::FloatType low,
                                  llvm::StringRef rule);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_AUTOCASTCASTS_H
