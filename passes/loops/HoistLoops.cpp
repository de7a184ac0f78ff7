//===- HoistLoops.cpp - less work and fewer bytes in loops ----------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"
#include <cmath>

namespace mp {
#define GEN_PASS_DEF_HOISTLOOPS
#include "passes/loops/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

static unsigned bitsOf(Type type) {
  return cast<RankedTensorType>(type).getElementTypeBitWidth();
}

/// Whether a cast changes no value: to a float that has more bits.
static bool widens(CastOp op) {
  return op && isFloatTensor(op.getInput()) && isFloatTensor(op.getResult()) &&
         bitsOf(op.getInput().getType()) < bitsOf(op.getType());
}

namespace {
/// A loop and its body, under change.
class Hoister {
public:
  Hoister(LoopOp loop, func::FuncOp body)
      : loop(loop), body(body), block(body.getBody().front()),
        outside(loop.getLoc(), loop), operands(loop.getOperands()),
        invariants(loop.getInvariant().size()),
        carried(loop.getCarried().size()) {
    for (Value result : loop.getResults())
      results.push_back({result});
  }

  void run(bool movesCasts) {
    hoistOps();
    if (movesCasts) {
      narrowSlices();
      narrowLeft();
      narrowCarried();
      narrowStacks();
    }
    dropStacks();
    dropCarried();
    dropInvariants();
    rebuild();
  }

private:
  bool isInvariant(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() < invariants;
  }

  /// Moves ops that read invariants alone before the loop. Constants stay: what
  /// moves takes copies of them along.
  void hoistOps() {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (op.getNumOperands() && isMemoryEffectFree(&op) &&
          llvm::all_of(op.getOperands(), [&](Value operand) {
            return isInvariant(operand) || operand.getDefiningOp<ConstantOp>();
          }))
        hoist(op);
  }

  void hoist(Operation &op) {
    IRMapping mapping;
    for (Value operand : op.getOperands()) {
      if (mapping.contains(operand))
        continue;
      if (Operation *constant = operand.getDefiningOp())
        outside.clone(*constant, mapping);
      else
        mapping.map(operand,
                    operands[cast<BlockArgument>(operand).getArgNumber()]);
    }
    Operation *moved = outside.clone(op, mapping);
    for (auto [inside, value] :
         llvm::zip(op.getResults(), moved->getResults())) {
      operands.insert(operands.begin() + invariants, value);
      inside.replaceAllUsesWith(
          block.insertArgument(invariants++, value.getType(), op.getLoc()));
    }
    op.erase();
  }

  /// What the loop runs over is cast to a wider type round by round.
  void narrowSlices() {
    for (unsigned i = invariants + carried; i < operands.size(); ++i) {
      auto transpose = operands[i].getDefiningOp<TransposeOp>();
      Value source = transpose ? transpose.getInput() : operands[i];
      auto wide = source.getDefiningOp<CastOp>();
      if (!widens(wide))
        continue;
      Value narrow = wide.getInput();
      if (transpose)
        narrow =
            TransposeOp::create(outside, narrow, transpose.getPermutation());
      giveNarrow(i, narrow);
    }
  }

  /// What rounds cast to a wider type in the end is carried without the cast,
  /// if the first round is given such a value too.
  void narrowLeft() {
    Operation *end = block.getTerminator();
    for (unsigned i = 0; i < carried; ++i)
      if (auto wide = end->getOperand(i).getDefiningOp<CastOp>(); widens(wide))
        if (Value first = asNarrow(operands[invariants + i],
                                   elementType(wide.getInput()))) {
          giveNarrow(invariants + i, first);
          end->setOperand(i, wide.getInput());
        }
  }

  /// Returns a value in a narrower type that has all of its bits, or null.
  Value asNarrow(Value value, Type type) {
    if (auto wide = value.getDefiningOp<CastOp>();
        widens(wide) && elementType(wide.getInput()) == type)
      return wide.getInput();
    auto constant = value.getDefiningOp<ConstantOp>();
    auto number = constant ? splatValue(constant.getValue()) : std::nullopt;
    if (!number || *number != 0 || std::signbit(*number))
      return {};
    return splat(outside, tensorType(value).clone(type), 0);
  }

  /// Gives rounds a value in a narrower type, which they cast.
  void giveNarrow(unsigned operand, Value value) {
    operands[operand] = value;
    BlockArgument argument = block.getArgument(operand);
    auto type = tensorType(argument);
    argument.setType(type.clone(elementType(value)));
    ImplicitLocOpBuilder inside(value.getLoc(), &block, block.begin());
    Value cast = CastOp::create(inside, type, argument);
    argument.replaceAllUsesExcept(cast, cast.getDefiningOp());
  }

  /// What rounds are given and cast to a narrower type, the round before casts
  /// with the ops that compute it, and carries beside it.
  void narrowCarried() {
    for (unsigned i = 0, count = carried; i < count; ++i) {
      BlockArgument argument = block.getArgument(invariants + i);
      Type narrow = typeOfCasts(argument);
      if (!narrow)
        continue;
      BlockArgument added = carry(i, narrow);
      for (Operation *cast : llvm::make_early_inc_range(argument.getUsers())) {
        cast->getResult(0).replaceAllUsesWith(added);
        cast->erase();
      }
    }
  }

  /// Adds a carried value: another one, in a type.
  BlockArgument carry(unsigned other, Type type) {
    Operation *end = block.getTerminator();
    Value next = end->getOperand(other), first = operands[invariants + other];
    end->insertOperands(carried, castOf(next, type));
    unsigned place = invariants + carried;
    operands.insert(operands.begin() + place, castTo(outside, first, type));
    results.insert(results.begin() + carried++, SmallVector<Value>());
    return block.insertArgument(place, operands[place].getType(),
                                next.getLoc());
  }

  /// What the loop stacks is stacked before it is cast to a wider type, and
  /// after it is cast to a narrower one.
  void narrowStacks() {
    Operation *end = block.getTerminator();
    for (unsigned i = carried; i < end->getNumOperands(); ++i) {
      Value value = end->getOperand(i);
      auto wide = value.getDefiningOp<CastOp>();
      if (widens(wide))
        end->setOperand(i, wide.getInput());
      else if (Type narrow = typeOutside(results[i].front()))
        end->setOperand(i, castOf(value, narrow));
    }
  }

  /// Returns a value of the body in another type, which it may be cast to
  /// already.
  Value castOf(Value value, Type type) {
    for (Operation *user : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(user);
          cast && elementType(cast.getResult()) == type)
        return cast;
    ImplicitLocOpBuilder inside(value.getLoc(), block.getTerminator());
    return castTo(inside, value, type);
  }

  /// Returns the narrower type to which all users cast a result, with its
  /// dimensions in another order or not; null if they do not.
  static Type typeOutside(Value result) {
    while (result.hasOneUse() && isa<TransposeOp>(*result.user_begin()))
      result = (*result.user_begin())->getResult(0);
    return typeOfCasts(result);
  }

  static Type typeOfCasts(Value value) {
    Type narrow;
    for (Operation *user : value.getUsers()) {
      auto cast = dyn_cast<CastOp>(user);
      Type type = cast ? elementType(cast.getResult()) : Type();
      if (!type || !isFloatTensor(cast.getResult()) ||
          (narrow && narrow != type) ||
          bitsOf(cast.getType()) >= bitsOf(value.getType()))
        return {};
      narrow = type;
    }
    return narrow;
  }

  bool isUsed(unsigned result) {
    return llvm::any_of(results[result],
                        [](Value value) { return !value.use_empty(); });
  }

  /// Drops carried values that neither a round nor anything outside reads.
  void dropCarried() {
    for (unsigned i = carried; i-- > 0;)
      if (block.getArgument(invariants + i).use_empty() && !isUsed(i)) {
        block.eraseArgument(invariants + i);
        operands.erase(operands.begin() + invariants + i);
        dropResult(i);
        --carried;
      }
  }

  /// Drops stacks that nothing reads, and keeps one of several that are the
  /// same.
  void dropStacks() {
    llvm::DenseMap<Value, unsigned> known;
    for (unsigned i = carried; i < results.size();) {
      if (!isUsed(i)) {
        dropResult(i);
        continue;
      }
      Value value = block.getTerminator()->getOperand(i);
      auto [first, isNew] = known.try_emplace(value, i);
      if (isNew) {
        ++i;
      } else {
        llvm::append_range(results[first->second], results[i]);
        dropResult(i);
      }
    }
  }

  void dropResult(unsigned result) {
    block.getTerminator()->eraseOperand(result);
    results.erase(results.begin() + result);
  }

  void dropInvariants() {
    for (unsigned i = invariants; i-- > 0;)
      if (block.getArgument(i).use_empty()) {
        block.eraseArgument(i);
        operands.erase(operands.begin() + i);
        --invariants;
      }
  }

  void rebuild() {
    auto returned = block.getTerminator()->getOperandTypes();
    body.setType(FunctionType::get(body.getContext(), block.getArgumentTypes(),
                                   returned));
    SmallVector<Type> types(returned);
    for (Type &type : MutableArrayRef(types).drop_front(carried))
      type = LoopOp::stackOf(cast<RankedTensorType>(type), loop.getRounds());
    ValueRange all(operands);
    auto fresh = LoopOp::create(
        outside, types, loop.getBody(), all.take_front(invariants),
        all.slice(invariants, carried), all.drop_front(invariants + carried),
        loop.getRounds(), loop.getReverse());
    for (auto [olds, value] : llvm::zip_equal(results, fresh.getResults()))
      for (Value old : olds)
        replace(old, value);
    loop.erase();
  }

  /// Replaces a result by one that may have a narrower type.
  void replace(Value old, Value value) {
    SmallVector<Operation *> transposes;
    while (value.getType() != old.getType() && old.hasOneUse()) {
      auto transpose = dyn_cast<TransposeOp>(*old.user_begin());
      if (!transpose)
        break;
      ImplicitLocOpBuilder b(transpose.getLoc(), transpose);
      value = TransposeOp::create(b, value, transpose.getPermutation());
      old = transpose.getResult();
      transposes.push_back(transpose);
    }
    if (value.getType() != old.getType()) {
      ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
      b.setInsertionPointAfterValue(value);
      value = CastOp::create(b, tensorType(old), value);
    }
    old.replaceAllUsesWith(value);
    for (Operation *transpose : llvm::reverse(transposes))
      transpose->erase();
  }

  LoopOp loop;
  func::FuncOp body;
  Block &block;
  ImplicitLocOpBuilder outside;
  SmallVector<Value> operands;
  /// The results of the loop that each of the new one's stands for.
  SmallVector<SmallVector<Value>> results;
  unsigned invariants, carried;
};

struct HoistLoops : mp::impl::HoistLoopsBase<HoistLoops> {
  using Base::Base;

  void runOnOperation() override {
    dropDead();
    DenseSet<Operation *> called = calledByLoops(getOperation()), given;
    SmallVector<func::FuncOp> callers;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!called.contains(function))
        callers.push_back(function);
    // All before any changes: a loop has the operands of the body as it is.
    for (func::FuncOp function : callers)
      giveBodies(function, given);
    for (func::FuncOp function : callers)
      hoistIn(function);
  }

private:
  /// Gives each loop a body of its own, as it may get operands of its own.
  void giveBodies(func::FuncOp function, DenseSet<Operation *> &given) {
    function.walk([&](LoopOp loop) {
      func::FuncOp body = loop.lookUpBody();
      if (!given.insert(body).second) {
        body = copyLoopBody(body);
        loop.setBody(body.getName());
        given.insert(body);
      }
      giveBodies(body, given);
    });
  }

  /// What leaves an inner loop may leave the one around it.
  void hoistIn(func::FuncOp function) {
    SmallVector<LoopOp> loops;
    function.walk([&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops) {
      func::FuncOp body = loop.lookUpBody();
      hoistIn(body);
      Hoister(loop, body).run(movesCasts);
    }
  }

  /// Drops loops that nothing uses, and bodies that no loop calls.
  void dropDead() {
    ModuleOp module = getOperation();
    module.walk([](LoopOp loop) {
      if (loop.use_empty())
        loop.erase();
    });
    dropUnusedBodies(module);
  }
};
} // namespace
