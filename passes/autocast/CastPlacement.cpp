//===- CastPlacement.cpp - fewer and smaller casts of the same bits -------===//
//
// Four moves are repeated until none helps. Each makes casts cheaper, or at the
// same cost moves a cast to a narrower type up, or one to a wider type down: so
// the repetition ends, and the values in between take fewer bytes.
//
//===----------------------------------------------------------------------===//
#include "passes/autocast/CastPlacement.h"
#include "dialect/Lossless.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/State.h"
#include "passes/autocast/AutocastCasts.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

static int64_t elements(Value value) {
  int64_t count = 1;
  for (int64_t size : tensorType(value).getShape())
    count *= ShapedType::isDynamic(size) ? 1 : size;
  return count;
}

static CastCost costOf(Value value, Type to) {
  int64_t bits =
      tensorType(value).getElementTypeBitWidth() + to.getIntOrFloatBitWidth();
  return {1, elements(value) * bits / 8};
}

static bool isFloatCast(CastOp op) {
  return isa<FloatType>(elementType(op.getInput())) &&
         isa<FloatType>(elementType(op.getResult()));
}

CastCost mp::costOfCasts(func::FuncOp function) {
  CastCost cost;
  function.walk([&](CastOp op) {
    if (isFloatCast(op))
      cost += costOf(op.getInput(), elementType(op.getResult()));
  });
  return cost;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

namespace {
class Placer {
public:
  explicit Placer(Block &block) : block(block) {}

  void run() {
    do {
      changed = false;
      forward([this](CastOp op) { shareAndShorten(op); });
      forward([this](CastOp op) { sink(op); });
      backward();
    } while (changed);
  }

private:
  void forward(llvm::function_ref<void(CastOp)> move) {
    known.clear();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto cast = dyn_cast<CastOp>(op); cast && isFloatCast(cast))
        move(cast);
  }
  void backward() {
    // Moves erase casts before and after an op, but no other op.
    SmallVector<AutocastOpInterface> ops;
    for (auto op : block.getOps<AutocastOpInterface>())
      if (!isa<CastOp>(op.getOperation()))
        ops.push_back(op);
    for (AutocastOpInterface op : llvm::reverse(ops))
      if (op.copiesElements())
        hoist(op);
      else
        narrow(op);
  }

  /// Removes a cast that another one has done, or shortens one that begins with
  /// a needless cast.
  void shareAndShorten(CastOp op) {
    Type type = elementType(op.getResult());
    if (auto inner = op.getInput().getDefiningOp<CastOp>();
        inner &&
        isLossless(elementType(inner.getInput()),
                   elementType(inner.getResult())) &&
        isa<FloatType>(elementType(inner.getInput()))) {
      op.getInputMutable().assign(inner.getInput());
      changed = true;
      eraseIfUnused(inner);
    }
    if (elementType(op.getInput()) == type)
      return replace(op, op.getInput());
    Value &first = known[{op.getInput(), type}];
    if (first)
      return replace(op, first);
    first = op.getResult();
  }

  /// Casts the parts that ops take from a value rather than the value.
  void sink(CastOp op) {
    Type type = elementType(op.getResult());
    bool isExact = isLossless(elementType(op.getInput()), type);
    CastCost now = costInStep(op.getInput(), type), then;
    SmallVector<AutocastOpInterface> copies;
    for (OpOperand &use : op->getUses()) {
      auto copy = dyn_cast<AutocastOpInterface>(use.getOwner());
      if (!copy || !copy.copiesElements() ||
          eligibleOperands(copy) != SmallVector<OpOperand *>{&use})
        return;
      then += costOf(copy->getResult(0), elementType(op.getInput()));
      copies.push_back(copy);
    }
    if (copies.empty() || !(isExact ? then <= now : then < now))
      return;
    for (AutocastOpInterface copy : copies) {
      copy->replaceUsesOfWith(op.getResult(), op.getInput());
      (void)copy.retypeResults();
      Value result = copy->getResult(0);
      ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
      builder.setInsertionPointAfter(copy);
      Value cast = castTo(builder, result, type);
      result.replaceAllUsesExcept(cast, cast.getDefiningOp());
    }
    changed = true;
    op.erase();
  }

  /// Casts the value that an op copies rather than its copy.
  void hoist(AutocastOpInterface op) {
    Value result = op->getResult(0);
    Type type = typeOfAllCasts(result);
    auto operands = eligibleOperands(op);
    if (!type || operands.empty())
      return;
    bool isExact = isLossless(elementType(result), type);
    CastCost now = costOf(result, type), then;
    for (OpOperand *operand : operands)
      if (elementType(operand->get()) == type)
        return;
      else if (!findCast(operand->get(), type, op))
        then += costInStep(operand->get(), type);
    // The casts of what is joined are done by what computes it.
    then.casts = std::min(then.casts, now.casts);
    if (!(isExact ? then < now : then <= now))
      return;
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    for (OpOperand *operand : operands) {
      Value cast = findCast(operand->get(), type, op);
      Operation *from = operand->get().getDefiningOp();
      operand->set(cast ? cast : castTo(builder, operand->get(), type));
      eraseIfUnused(dyn_cast_if_present<CastOp>(from));
    }
    (void)op.retypeResults();
    replaceCasts(result);
  }

  /// An op rounds its result once, whatever its operands: between casts from a
  /// type and back to it, it computes the same in that type.
  void narrow(AutocastOpInterface op) {
    if (!isa<ScalarOpInterface, DecomposableOpInterface>(op.getOperation()))
      return;
    auto operands = eligibleOperands(op);
    SmallVector<Value> before(op->getOperands());
    SmallVector<Type> types(op->getResultTypes());
    Type type;
    bool frees = false;
    for (OpOperand *operand : operands) {
      auto cast = operand->get().getDefiningOp<CastOp>();
      Type from = cast ? elementType(cast.getInput()) : Type();
      if (!cast || (type && from != type) ||
          !isLossless(from, elementType(cast.getResult())))
        return;
      type = from;
      frees |= cast->hasOneUse();
    }
    for (OpOperand *operand : operands)
      operand->set(operand->get().getDefiningOp<CastOp>().getInput());
    bool fits = type && succeeded(op.retypeResults());
    for (auto [result, old] : llvm::zip_equal(op->getResults(), types)) {
      if (result.getType() == old)
        continue;
      frees = true;
      fits &= elementType(result) == type && typeOfAllCasts(result) == type;
    }
    if (!fits || !frees) {
      op->setOperands(before);
      for (auto [result, old] : llvm::zip_equal(op->getResults(), types))
        result.setType(old);
      return;
    }
    changed = true;
    for (auto [result, old] : llvm::zip_equal(op->getResults(), types))
      if (result.getType() != old)
        replaceCasts(result);
    for (Value value : llvm::SmallSetVector<Value, 4>(llvm::from_range, before))
      eraseIfUnused(value.getDefiningOp<CastOp>());
  }

  //===--------------------------------------------------------------------===//

  /// Returns the cost of a cast in a step: a 16-bit copy of a parameter exists
  /// anyway.
  CastCost costInStep(Value value, Type type) {
    auto read = value.getDefiningOp<ReadOp>();
    if (read && isLossless(type, elementType(value)))
      return {};
    return costOf(value, type);
  }

  /// Returns the type that all uses of a value cast it to, or null.
  static Type typeOfAllCasts(Value value) {
    Type type;
    for (Operation *user : value.getUsers()) {
      auto cast = dyn_cast<CastOp>(user);
      if (!cast || !isa<FloatType>(elementType(cast.getResult())))
        return {};
      Type to = elementType(cast.getResult());
      if (type && to != type)
        return {};
      type = to;
    }
    return type;
  }

  /// The value in another type where that costs nothing: it was cast from
  /// there, or cast to it in front of `user`.
  static Value findCast(Value value, Type type, Operation *user) {
    if (auto upcast = value.getDefiningOp<CastOp>();
        upcast && elementType(upcast.getInput()) == type &&
        isLossless(type, elementType(value)))
      return upcast.getInput();
    for (Operation *other : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(other);
          cast && elementType(cast.getResult()) == type &&
          cast->isBeforeInBlock(user))
        return cast.getResult();
    return {};
  }

  /// Removes the casts of a value that has the type that its uses cast it to.
  void replaceCasts(Value value) {
    changed = true;
    for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
      user->getResult(0).replaceAllUsesWith(value);
      user->erase();
    }
  }

  void replace(CastOp op, Value value) {
    changed = true;
    op.getResult().replaceAllUsesWith(value);
    op.erase();
  }
  void eraseIfUnused(CastOp op) {
    if (!op || !op->use_empty())
      return;
    known.erase({op.getInput(), elementType(op.getResult())});
    op.erase();
  }

  Block &block;
  bool changed = false;
  llvm::DenseMap<std::pair<Value, Type>, Value> known;
};
} // namespace

void mp::placeCasts(func::FuncOp function) {
  Placer(function.getBody().front()).run();
}
