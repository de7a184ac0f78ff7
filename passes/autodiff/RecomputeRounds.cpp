//===- RecomputeRounds.cpp - loops of backward that need less of forward --===//
#include "passes/autodiff/RecomputeRounds.h"
#include "dialect/ops/Loop.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/LoopBodies.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mp;

static int64_t bitsOf(Value value) {
  auto type = tensorType(value);
  return type.getNumElements() * type.getElementTypeBitWidth();
}

namespace {
/// A loop of forward, and one of backward that runs over its stacks.
class RoundRecomputer {
public:
  /// `operands` are those of `backward` that nothing else reads, by the result
  /// of `forward` that they are.
  RoundRecomputer(LoopOp forward, LoopOp backward,
                  ArrayRef<std::pair<unsigned, unsigned>> operands)
      : forward(forward), backward(backward),
        round(forward.lookUpBody().getBody().front()),
        adjoint(backward.lookUpBody().getBody().front()),
        invariants(forward.getInvariant().size()),
        carried(forward.getCarried().size()) {
    for (auto [result, operand] : operands)
      // What a round is given cannot be computed from anything else.
      if (returned(result).getDefiningOp()) {
        need(returned(result));
        dropped[result] = operand;
      }
    for (Value value : needed)
      if (isCarried(value) && !stackedResult(value))
        fresh.push_back(value);
  }

  /// Whether the stacks that are dropped are larger than those that are added.
  bool isWorthwhile() {
    int64_t saved = 0;
    for (auto [result, operand] : dropped)
      saved += bitsOf(returned(result));
    for (Value value : fresh)
      saved -= bitsOf(value);
    return saved > 0;
  }

  void run() {
    SmallVector<Value> again;
    for (auto [result, operand] : dropped)
      again.push_back(returned(result));
    LoopOp before = forward;
    rebuildForward();
    rebuildBackward(again);
    before.erase();
  }

private:
  Value returned(unsigned result) {
    return round.getTerminator()->getOperand(result);
  }

  bool isCarried(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() >= invariants &&
           argument.getArgNumber() < invariants + carried;
  }

  /// Notes a value of the round, and all that it is computed from.
  void need(Value value) {
    if (!needed.insert(value))
      return;
    if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        need(operand);
  }

  /// Returns the result that is the stack of a value, and is not dropped.
  std::optional<unsigned> stackedResult(Value value) {
    for (unsigned i = carried; i < round.getTerminator()->getNumOperands(); ++i)
      if (returned(i) == value && !dropped.contains(i))
        return i;
    return std::nullopt;
  }

  void rebuildForward() {
    SmallVector<Value> values, old;
    SmallVector<Type> types;
    for (OpResult result : forward.getResults()) {
      if (dropped.contains(result.getResultNumber()))
        continue;
      values.push_back(returned(result.getResultNumber()));
      types.push_back(result.getType());
      old.push_back(result);
    }
    for (Value value : fresh) {
      values.push_back(value);
      types.push_back(LoopOp::stackOf(tensorType(value), forward.getRounds()));
    }
    auto updated =
        create(forward, forward.getInvariant(), forward.getSliced(), types);
    for (auto [result, value] : llvm::zip(old, updated.getResults()))
      result.replaceAllUsesWith(value);
    round.getTerminator()->setOperands(values);
    dropped.swap(removed);
    retype(round);
    forward = updated;
  }

  /// Makes a loop like another one, before it.
  static LoopOp create(LoopOp like, ValueRange invariant, ValueRange sliced,
                       TypeRange types) {
    OpBuilder builder(like);
    return LoopOp::create(builder, like.getLoc(), types, like.getBody(),
                          invariant, like.getCarried(), sliced,
                          like.getRounds(), like.getReverse());
  }

  static void retype(Block &block) {
    auto function = cast<func::FuncOp>(block.getParentOp());
    function.setType(
        FunctionType::get(function.getContext(), block.getArgumentTypes(),
                          block.getTerminator()->getOperandTypes()));
  }

  void rebuildBackward(ArrayRef<Value> again) {
    SmallVector<Value> invariant(backward.getInvariant()),
        sliced(backward.getSliced());
    size_t before = invariant.size();
    IRMapping mapping;
    for (Value value : needed)
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getArgNumber() < invariants)
        mapping.map(value,
                    argumentFor(forward.getOperand(argument.getArgNumber()),
                                invariant, 0));
    size_t first = invariant.size() + backward.getCarried().size();
    for (Value value : needed)
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getArgNumber() >= invariants)
        mapping.map(
            value,
            argumentFor(isCarried(value)
                            ? forward.getResult(*stackedResult(value))
                            : forward.getOperand(argument.getArgNumber()),
                        sliced, first));
    OpBuilder inside = OpBuilder::atBlockBegin(&adjoint);
    for (Operation &op : round.without_terminator())
      if (llvm::any_of(op.getResults(),
                       [&](Value result) { return needed.contains(result); }))
        inside.clone(op, mapping);

    SmallVector<unsigned> places; // of the slices that are not taken any more
    for (auto [value, entry] : llvm::zip_equal(again, removed)) {
      size_t place = invariant.size() - before + entry.second;
      adjoint.getArgument(place).replaceAllUsesWith(mapping.lookup(value));
      places.push_back(place);
    }
    llvm::sort(places, std::greater<>());
    for (unsigned place : places) {
      sliced.erase(sliced.begin() + (place - first));
      adjoint.eraseArgument(place);
    }
    retype(adjoint);
    auto updated =
        create(backward, invariant, sliced, backward.getResultTypes());
    backward->replaceAllUsesWith(updated.getResults());
    backward.erase();
  }

  /// Returns the argument that gets an operand, of those that begin at `first`;
  /// a new one if there is none.
  Value argumentFor(Value operand, SmallVector<Value> &operands, size_t first) {
    auto known = llvm::find(operands, operand);
    size_t place = first + (known - operands.begin());
    if (known != operands.end())
      return adjoint.getArgument(place);
    operands.push_back(operand);
    auto type = tensorType(operand);
    if (first != 0)
      type = type.clone(type.getShape().drop_front());
    return adjoint.insertArgument(place, type, operand.getLoc());
  }

  LoopOp forward, backward;
  Block &round, &adjoint;             ///< what they call
  const unsigned invariants, carried; ///< of forward
  /// Results of forward that are computed again, and where backward takes them.
  llvm::MapVector<unsigned, unsigned> dropped, removed;
  llvm::SetVector<Value> needed; ///< of the round, for that
  SmallVector<Value> fresh;      ///< carried values that get a stack
};
} // namespace

/// Returns, for each loop of forward, the operands of a loop that only it
/// reads, by the results that they are.
static llvm::MapVector<Operation *, SmallVector<std::pair<unsigned, unsigned>>>
stacksOf(LoopOp backward) {
  llvm::MapVector<Operation *, SmallVector<std::pair<unsigned, unsigned>>> all;
  unsigned first =
      backward.getInvariant().size() + backward.getCarried().size();
  for (unsigned i = first; i < backward.getNumOperands(); ++i) {
    auto result = dyn_cast<OpResult>(backward.getOperand(i));
    auto forward = result ? dyn_cast<LoopOp>(result.getOwner()) : LoopOp();
    if (forward && result.hasOneUse() &&
        forward.getRounds() == backward.getRounds() &&
        result.getResultNumber() >= forward.getCarried().size())
      all[forward].push_back({result.getResultNumber(), i});
  }
  return all;
}

bool mp::recomputeRounds(func::FuncOp function) {
  bool hasChanged = false;
  for (auto backward : llvm::to_vector(function.getOps<LoopOp>()))
    for (auto &[forward, operands] : stacksOf(backward)) {
      RoundRecomputer recomputer(cast<LoopOp>(forward), backward, operands);
      if (!recomputer.isWorthwhile())
        continue;
      recomputer.run();
      hasChanged = true;
      break; // of one loop of forward; the loop of backward is another now
    }
  return hasChanged;
}
