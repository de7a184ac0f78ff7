//===- AutocastScopes.cpp - which policy and type hold where --------------===//
#include "passes/autocast/AutocastScopes.h"
#include "dialect/ops/Autocast.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mp;

CastDecision AutocastScope::decide(AutocastOpInterface op) const {
  if (auto own = Policy::decideByWord(op))
    return *own;
  if (!isEnabled)
    return {Category::Native, "autocast is off here"};
  return policy->decide(op);
}

/// Moves the region's ops to its place.
static void dissolve(AutocastOp region) {
  Block &body = region.getBody().front();
  IRRewriter rewriter(region);
  auto yielded = llvm::to_vector(body.getTerminator()->getOperands());
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, region);
  rewriter.replaceOp(region, yielded);
}

void mp::dissolveRegions(func::FuncOp function) {
  // Inner regions come before the ones around them.
  function.walk([](AutocastOp region) { ::dissolve(region); });
}

FailureOr<AutocastScopes> AutocastScopes::dissolve(func::FuncOp function,
                                                   AutocastScope outermost,
                                                   FindPolicy find) {
  AutocastScopes scopes;
  scopes.function = std::make_shared<AutocastScope>(std::move(outermost));
  for (Block &block : function.getBody())
    if (failed(scopes.visit(block, scopes.function, find)))
      return failure();
  dissolveRegions(function);
  return scopes;
}

LogicalResult AutocastScopes::visit(Block &block, const ScopePtr &scope,
                                    FindPolicy find) {
  for (Operation &op : block) {
    if (auto region = dyn_cast<AutocastOp>(op)) {
      if (failed(enter(region, scope, find)))
        return failure();
      continue;
    }
    auto word = op.getAttrOfType<StringAttr>(kAutocastAttr);
    if (word && word.getValue() == "low" && !scope->low)
      return op.emitError() << "is to run in the low type, and neither its "
                               "region nor the recipe says which that is";
    if (scope != function)
      inner[&op] = scope;
  }
  return success();
}

LogicalResult AutocastScopes::enter(AutocastOp region, const ScopePtr &around,
                                    FindPolicy find) {
  auto scope = std::make_shared<AutocastScope>(*around);
  scope->isEnabled = region.getEnabled().value_or(true);
  if (auto type = region.getDtype())
    scope->low = cast<FloatType>(*type);
  if (auto name = region.getPolicy())
    scope->policyName = name->str();
  if (scope->isEnabled && !scope->low)
    return region.emitOpError() << "says no dtype, and neither a region around "
                                   "it nor the recipe does";
  bool isOther = !around->policy || scope->low != around->low ||
                 scope->policyName != around->policyName;
  if (scope->isEnabled && isOther) {
    auto policy = find(region, scope->policyName, scope->low);
    if (failed(policy))
      return failure();
    scope->policy = *policy;
  }
  return visit(region.getBody().front(), scope, find);
}

const AutocastScope &AutocastScopes::of(Operation *op) const {
  auto found = inner.find(op);
  return found == inner.end() ? *function : *found->second;
}

bool AutocastScopes::castsNothing() const {
  return !function->low && llvm::all_of(inner, [](const auto &entry) {
    return !entry.second->low;
  });
}
