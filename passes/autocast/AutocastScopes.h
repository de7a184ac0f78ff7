//===- AutocastScopes.h - which policy and type hold where ------*- C++ -*-===//
//
// A function is one scope, and each `mp.autocast` in it another.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_AUTOCAST_AUTOCASTSCOPES_H
#define MP_PASSES_AUTOCAST_AUTOCASTSCOPES_H

#include "dialect/ops/Autocast.h"
#include "passes/autocast/Policy.h"
#include <memory>

namespace mp {

struct AutocastScope {
  bool isEnabled = false;
  mlir::FloatType low; ///< null if nothing sets it
  std::string policyName;
  std::shared_ptr<const Policy> policy; ///< null if never needed

  /// Judges by the op's own attribute, or else by the policy; native if
  /// autocast is off.
  CastDecision decide(AutocastOpInterface op) const;
};

class AutocastScopes {
public:
  /// Finds a policy of that name for a type; reports why it cannot.
  using FindPolicy =
      llvm::function_ref<llvm::FailureOr<std::shared_ptr<const Policy>>(
          mlir::Operation *from, llvm::StringRef name, mlir::FloatType low)>;

  /// Removes the function's `mp.autocast` regions, and remembers their settings
  /// for their ops. `outermost` has the settings of the function.
  static llvm::FailureOr<AutocastScopes> dissolve(mlir::func::FuncOp function,
                                                  AutocastScope outermost,
                                                  FindPolicy find);

  const AutocastScope &of(mlir::Operation *op) const;
  const AutocastScope &outermost() const { return *function; }
  /// Whether no op is cast.
  bool castsNothing() const;

private:
  using ScopePtr = std::shared_ptr<const AutocastScope>;
  llvm::LogicalResult enter(AutocastOp region, const ScopePtr &around,
                            FindPolicy find);
  llvm::LogicalResult visit(mlir::Block &block, const ScopePtr &scope,
                            FindPolicy find);

  ScopePtr function;
  /// The scopes of the ops that stood in regions.
  llvm::DenseMap<mlir::Operation *, ScopePtr> inner;
};

/// Leaves the ops of `mp.autocast` regions in their place.
void dissolveRegions(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_AUTOCASTSCOPES_H
