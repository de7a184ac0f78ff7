//===- AutocastPropagate.cpp - casts by colouring the graph ---------------===//
//
// The steps of TensorFlow's auto_mixed_precision, on ops of ours. What is
// coloured is an op's eligible operands and the results that follow them: the
// data of a batch norm, but not its statistics. An op of a category that only
// other systems have counts as what it comes nearest to: what moves values
// without changing them is clear, what runs in the type it gets is inferred.
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
  Judgement judgement;
  OpOperand *tooNarrow = nullptr; ///< a constant that low cannot hold
};

class Colouring {
public:
  Colouring(Block &block, const AutocastScopes &scopes, FloatType low)
      : block(block), low(low), wide(Float32Type::get(low.getContext())) {
    for (Operation &op : block)
      if (auto facts = dyn_cast<AutocastOpInterface>(op))
        nodes[&op] = classify(facts, scopes.of(&op));
  }

  LogicalResult run() {
    if (failed(seed()))
      return failure();
    if (painted.empty())
      return success();
    denyForward();
    sandwich();
    flood();
    return success();
  }

  bool isPainted(Operation *op) const { return painted.contains(op); }

  /// A cast to f32 of which all that read it run low may cast to the low type.
  bool isRetargeted(CastOp op) const {
    return elementType(op.getResult()) == wide && !op->use_empty() &&
           llvm::all_of(op->getUses(), [&](OpOperand &use) {
             return isPainted(use.getOwner()) && isEligible(use);
           });
  }

  /// What became of an op, and why.
  void report(Operation *op, AutocastReport &report) const {
    auto found = nodes.find(op);
    if (found == nodes.end() || isa<CastOp>(op))
      return;
    const Node &node = found->second;
    std::string why = node.judgement.rule;
    if (isPainted(op) && node.kind != Class::Allow)
      why += node.kind == Class::Clear ? ", beside ops that run low"
                                       : ", between ops that run low";
    else if (denied.contains(op) && node.kind != Class::Deny)
      why += ", behind a denied op";
    else if (!isPainted(op) && node.kind == Class::Allow)
      why += ", but holds a type that is not cast";
    report.decide(op, node.judgement.category, isPainted(op) ? low : wide, why);
    if (node.tooNarrow && !painted.empty())
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
    node.judgement = scope.judge(op);
    auto operands = eligibleOperands(op);
    bool isCapable =
        !operands.empty() && llvm::all_of(operands, [&](OpOperand *operand) {
          return elementType(operand->get()) == wide;
        });
    bool isOff = !scope.isEnabled && !Policy::judgeByWord(op);
    if (!isCapable || isOff || isa<CastOp>(op))
      return node;
    node.kind = classOf(op, node.judgement.category);
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
      return op.getAutocastName("class") == "movement" ? Class::Clear
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

  /// Ops that read what `op` makes as data, or whose data it reads.
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

  /// What is reached from `starts` by `next` over ops that `passes`, `starts`
  /// not among them.
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

  /// Step 1: what the list allows runs low.
  LogicalResult seed() {
    for (Operation &op : block)
      if (auto found = nodes.find(&op);
          found != nodes.end() &&
          found->second.judgement.category == Category::Banned)
        return emitBanned(&op, low, found->second.judgement);
    for (Operation *op : opsOf(Class::Allow))
      painted.insert(op);
    return success();
  }

  /// Step 2: a denied op denies what follows it, through ops that are inferred
  /// and through clear ones that have a denied or inferred op behind them.
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

  /// Step 3: what lies between two ops that run low does so too.
  void sandwich() {
    SmallVector<Operation *> seeds(painted.begin(), painted.end());
    auto passes = [&](Operation *op) { return mayFollow(op); };
    Ops behind = forward(seeds, passes), before = backward(seeds, passes);
    for (Operation *op : behind)
      if (before.contains(op))
        painted.insert(op);
  }

  /// Step 4: clear ops beside what runs low do so too.
  void flood() {
    SmallVector<Operation *> seeds(painted.begin(), painted.end());
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
    painted.insert_range(found);
  }

  Block &block;
  FloatType low, wide;
  DenseMap<Operation *, Node> nodes;
  Ops painted, denied;
};

/// Steps 6 and 7: casts where the colour changes, one for each value and type.
class Committer {
public:
  Committer(const Colouring &colours, const AutocastScopes &scopes,
            FloatType low, AutocastReport &report)
      : colours(colours), scopes(scopes), low(low),
        wide(Float32Type::get(low.getContext())), report(report) {}

  LogicalResult visit(Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op); cast && colours.isRetargeted(cast)) {
      auto type = tensorType(cast.getResult());
      cast.getResult().setType(type.clone(low));
      return success();
    }
    colours.report(op, report);
    // Of the values themselves, as others may read them low.
    if (isa<GradientOp>(op))
      return retype(cast<AutocastOpInterface>(op));
    if (!colours.isPainted(op)) {
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

  const Colouring &colours;
  const AutocastScopes &scopes;
  FloatType low, wide;
  AutocastReport &report;
  CastCache casts;
  llvm::DenseSet<Value> changed;
};
} // namespace

/// The type that all scopes cast to.
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
  Colouring colours(body, scopes, *low);
  if (failed(colours.run()))
    return failure();
  Committer committer(colours, scopes, *low, report);
  for (Operation &op : llvm::make_early_inc_range(body))
    if (failed(committer.visit(&op)))
      return failure();
  return success();
}
