//===- AutocastPropagate.cpp - casts by propagation through the graph -----===//
//
// The steps of TensorFlow's auto_mixed_precision, on Mantissa's ops. The colour
// is that of an op's eligible operands and the results that follow them: the
// data of a batch norm, but not its statistics. A category that only other
// systems have counts as the nearest one here: ops that move values without
// changing them are clear, ops that run in the type of their operands are
// inferred.
//
//===----------------------------------------------------------------------===//
#include "passes/autocast/AutocastPropagate.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Gradient.h"
#include "passes/analysis/Constants.h"
#include "passes/autocast/AutocastCasts.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mp;

namespace {
enum class Class { Allow, Infer, Clear, Deny, None };

struct Node {
  Class kind = Class::None;
  CastDecision decision;
  OpOperand *tooNarrow = nullptr; ///< a constant that low cannot hold
};

class Propagation {
public:
  Propagation(Block &block, const AutocastScopes &scopes, FloatType low)
      : block(block), low(low), wide(Float32Type::get(low.getContext())) {
    for (Operation &op : block)
      if (auto facts = dyn_cast<AutocastOpInterface>(op))
        nodes[&op] = classify(facts, scopes.of(&op));
  }

  LogicalResult run() {
    if (failed(seed()))
      return failure();
    if (allowSet.empty())
      return success();
    denyForward();
    sandwich();
    flood();
    return success();
  }

  bool isInAllowSet(Operation *op) const { return allowSet.contains(op); }

  /// Whether a cast to f32 may cast to the low type instead, as all ops that
  /// read it run low.
  bool isRetargeted(CastOp op) const {
    return elementType(op.getResult()) == wide && !op->use_empty() &&
           llvm::all_of(op->getUses(), [&](OpOperand &use) {
             return isInAllowSet(use.getOwner()) && isEligible(use);
           });
  }

  /// Reports the decision for an op, and its reason.
  void report(Operation *op, AutocastReport &report) const {
    auto found = nodes.find(op);
    if (found == nodes.end() || isa<CastOp>(op))
      return;
    const Node &node = found->second;
    std::string why = node.decision.rule;
    if (isInAllowSet(op) && node.kind != Class::Allow)
      why += node.kind == Class::Clear ? ", beside ops that run low"
                                       : ", between ops that run low";
    else if (denied.contains(op) && node.kind != Class::Deny)
      why += ", after a denied op";
    else if (!isInAllowSet(op) && node.kind == Class::Allow)
      why += ", but holds a type that is not cast";
    report.decide(op, node.decision.category, isInAllowSet(op) ? low : wide,
                  why);
    if (node.tooNarrow && !allowSet.empty())
      report.keepWide(*node.tooNarrow, whyNotExact(node.tooNarrow->get(), low),
                      low);
  }

private:
  static bool isEligible(OpOperand &use) {
    auto facts = dyn_cast<AutocastOpInterface>(use.getOwner());
    return facts && llvm::is_contained(eligibleOperands(facts), &use);
  }

  Node classify(AutocastOpInterface op, const AutocastScope &scope) const {
    Node node;
    node.decision = scope.decide(op);
    auto operands = eligibleOperands(op);
    bool isCapable =
        !operands.empty() && llvm::all_of(operands, [&](OpOperand *operand) {
          return elementType(operand->get()) == wide;
        });
    bool isOff = !scope.isEnabled && !Policy::decideByWord(op);
    if (!isCapable || isOff || isa<CastOp>(op))
      return node;
    node.kind = classOf(op, node.decision.category);
    bool isChoice = node.kind == Class::Infer || node.kind == Class::Clear;
    for (OpOperand *operand : operands)
      if (isChoice && !whyNotExact(operand->get(), low).empty()) {
        node.kind = Class::None;
        node.tooNarrow = operand;
      }
    return node;
  }

  static Class classOf(AutocastOpInterface op, Category category) {
    switch (category) {
    case Category::Allow:
      return Class::Allow;
    case Category::Deny:
    case Category::Result:
    case Category::Banned:
      return Class::Deny;
    case Category::Infer:
    case Category::Boundary:
      return Class::Infer;
    case Category::Clear:
      return Class::Clear;
    case Category::Native:
    case Category::Follow:
    case Category::Promote:
      return op.getNumericClass() == NumericClass::movement ? Class::Clear
                                                            : Class::Infer;
    case Category::Barrier:
      return Class::None;
    }
    llvm_unreachable("all categories handled");
  }

  bool is(Operation *op, Class kind) const {
    auto found = nodes.find(op);
    return found != nodes.end() && found->second.kind == kind;
  }
  bool mayFollow(Operation *op) const {
    return (is(op, Class::Infer) || is(op, Class::Clear)) &&
           !denied.contains(op);
  }

  /// Returns the ops that read the result of `op` as data, or whose data it
  /// reads.
  SmallVector<Operation *> users(Operation *op) const {
    SmallVector<Operation *> found;
    for (OpOperand &use : op->getUses())
      if (isEligible(use))
        found.push_back(use.getOwner());
    return found;
  }
  SmallVector<Operation *> producers(Operation *op) const {
    SmallVector<Operation *> found;
    for (OpOperand *operand : eligibleOperands(cast<AutocastOpInterface>(op)))
      if (Operation *from = operand->get().getDefiningOp())
        found.push_back(from);
    return found;
  }

  /// Returns the ops reached from `starts` by `next` over ops that `passes`,
  /// without `starts`.
  using Ops = llvm::SetVector<Operation *>;
  static Ops
  reach(ArrayRef<Operation *> starts,
        llvm::function_ref<SmallVector<Operation *>(Operation *)> next,
        llvm::function_ref<bool(Operation *)> passes) {
    Ops reached;
    SmallVector<Operation *> work(starts);
    while (!work.empty())
      for (Operation *op : next(work.pop_back_val()))
        if (passes(op) && reached.insert(op))
          work.push_back(op);
    return reached;
  }
  Ops forward(ArrayRef<Operation *> starts,
              llvm::function_ref<bool(Operation *)> passes) const {
    return reach(starts, [&](Operation *op) { return users(op); }, passes);
  }
  Ops backward(ArrayRef<Operation *> starts,
               llvm::function_ref<bool(Operation *)> passes) const {
    return reach(starts, [&](Operation *op) { return producers(op); }, passes);
  }

  SmallVector<Operation *> opsOf(Class kind) const {
    SmallVector<Operation *> found;
    for (Operation &op : block)
      if (is(&op, kind))
        found.push_back(&op);
    return found;
  }

  /// Step 1: ops that the list allows run low.
  LogicalResult seed() {
    for (Operation &op : block)
      if (auto found = nodes.find(&op);
          found != nodes.end() &&
          found->second.decision.category == Category::Banned)
        return emitBanned(&op, low, found->second.decision);
    for (Operation *op : opsOf(Class::Allow))
      allowSet.insert(op);
    return success();
  }

  /// Step 2: a denied op denies the ops after it, through ops that are inferred
  /// and through clear ones that a denied or inferred op follows.
  void denyForward() {
    SmallVector<Operation *> ends = opsOf(Class::Deny);
    llvm::append_range(ends, opsOf(Class::Infer));
    Ops before =
        backward(ends, [&](Operation *op) { return is(op, Class::Clear); });
    SmallVector<Operation *> starts = opsOf(Class::Deny);
    denied.insert_range(starts);
    denied.insert_range(forward(starts, [&](Operation *op) {
      return is(op, Class::Deny) || is(op, Class::Infer) || before.contains(op);
    }));
  }

  /// Step 3: ops between two ops that run low do so too.
  void sandwich() {
    SmallVector<Operation *> seeds(allowSet.begin(), allowSet.end());
    auto passes = [&](Operation *op) { return mayFollow(op); };
    Ops after = forward(seeds, passes), before = backward(seeds, passes);
    for (Operation *op : after)
      if (before.contains(op))
        allowSet.insert(op);
  }

  /// Step 4: clear ops beside ops that run low do so too.
  void flood() {
    SmallVector<Operation *> seeds(allowSet.begin(), allowSet.end());
    Ops found = reach(
        seeds,
        [&](Operation *op) {
          SmallVector<Operation *> both = users(op);
          llvm::append_range(both, producers(op));
          return both;
        },
        [&](Operation *op) {
          return is(op, Class::Clear) && !denied.contains(op);
        });
    allowSet.insert_range(found);
  }

  Block &block;
  FloatType low, wide;
  DenseMap<Operation *, Node> nodes;
  Ops allowSet, denied;
};

/// Steps 6 and 7: casts where the colour changes, one for each value and type.
class Committer {
public:
  Committer(const Propagation &propagation, const AutocastScopes &scopes,
            FloatType low, AutocastReport &report)
      : propagation(propagation), scopes(scopes), low(low),
        wide(Float32Type::get(low.getContext())), report(report) {}

  LogicalResult visit(Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op);
        cast && propagation.isRetargeted(cast)) {
      auto type = tensorType(cast.getResult());
      cast.getResult().setType(type.clone(low));
      return success();
    }
    propagation.report(op, report);
    // The gradient is of the values themselves, as others may read them low.
    if (isa<GradientOp>(op))
      return retype(cast<AutocastOpInterface>(op));
    if (!propagation.isInAllowSet(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (changed.contains(operand.get()))
          casts.cast(operand, wide, report);
      return success();
    }
    auto facts = cast<AutocastOpInterface>(op);
    auto eligible = eligibleOperands(facts);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!llvm::is_contained(eligible, &operand)) {
        if (changed.contains(operand.get()))
          casts.cast(operand, wide, report);
        continue;
      }
      if (failed(checkConstant(operand, low, "it runs low")))
        return failure();
      casts.cast(operand, low, report);
    }
    markStorage(facts, scopes.of(op));
    keepReturnedSums(facts, scopes.of(op), report);
    return retype(facts);
  }

private:
  LogicalResult retype(AutocastOpInterface op) {
    SmallVector<Type> before(op->getResultTypes());
    if (failed(op.retypeResults()))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op->getResults(), before))
      if (result.getType() != type)
        changed.insert(result);
    return success();
  }

  const Propagation &propagation;
  const AutocastScopes &scopes;
  FloatType low, wide;
  AutocastReport &report;
  CastCache casts;
  llvm::DenseSet<Value> changed;
};
} // namespace

/// Returns the type that all scopes cast to.
static FailureOr<FloatType> findColour(Block &body,
                                       const AutocastScopes &scopes) {
  FloatType low = scopes.outermost().low;
  for (Operation &op : body) {
    FloatType other = scopes.of(&op).low;
    if (low && other && low != other)
      return op.emitOpError()
             << "is in a region of " << other << ", and others are in " << low
             << ": a graph is coloured with one type; mode=eager takes several";
    low = low ? low : other;
  }
  return low;
}

LogicalResult mp::castByColour(func::FuncOp function,
                               const AutocastScopes &scopes,
                               AutocastReport &report) {
  Block &body = function.getBody().front();
  FailureOr<FloatType> low = findColour(body, scopes);
  if (failed(low))
    return failure();
  if (low->isTF32())
    return function.emitOpError()
           << "autocast to tf32 decides op by op: mode is eager";
  Propagation propagation(body, scopes, *low);
  if (failed(propagation.run()))
    return failure();
  Committer committer(propagation, scopes, *low, report);
  for (Operation &op : llvm::make_early_inc_range(body))
    if (failed(committer.visit(&op)))
      return failure();
  return success();
}
