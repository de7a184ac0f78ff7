//===- HoistLoops.cpp - less work and fewer bytes in loops ----------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"

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
        carried(loop.getCarried().size()) {}

  void run(bool movesCasts) {
    hoistOps();
    if (movesCasts) {
      narrowSlices();
      narrowStacks();
    }
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
      operands[i] = wide.getInput();
      if (transpose)
        operands[i] = TransposeOp::create(outside, operands[i],
                                          transpose.getPermutation());
      BlockArgument slice = block.getArgument(i);
      auto type = tensorType(slice);
      slice.setType(type.clone(elementType(operands[i])));
      ImplicitLocOpBuilder inside(wide.getLoc(), &block, block.begin());
      Value cast = CastOp::create(inside, type, slice);
      slice.replaceAllUsesExcept(cast, cast.getDefiningOp());
    }
  }

  /// What the loop stacks is stacked before it is cast to a wider type, and
  /// after it is cast to a narrower one.
  void narrowStacks() {
    Operation *end = block.getTerminator();
    for (unsigned i = carried; i < end->getNumOperands(); ++i) {
      Value value = end->getOperand(i);
      auto wide = value.getDefiningOp<CastOp>();
      ImplicitLocOpBuilder inside(value.getLoc(), end);
      if (widens(wide))
        end->setOperand(i, wide.getInput());
      else if (Type narrow = typeOutside(loop.getResult(i)))
        end->setOperand(
            i, CastOp::create(inside, tensorType(value).clone(narrow), value));
    }
  }

  /// Returns the narrower type to which all users cast a result, with its
  /// dimensions in another order or not; null if they do not.
  static Type typeOutside(Value result) {
    while (result.hasOneUse() && isa<TransposeOp>(*result.user_begin()))
      result = (*result.user_begin())->getResult(0);
    Type narrow;
    for (Operation *user : result.getUsers()) {
      auto cast = dyn_cast<CastOp>(user);
      Type type = cast ? elementType(cast.getResult()) : Type();
      if (!type || !isFloatTensor(cast.getResult()) ||
          (narrow && narrow != type) ||
          bitsOf(cast.getType()) >= bitsOf(result.getType()))
        return {};
      narrow = type;
    }
    return narrow;
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
    SmallVector<Type> types(loop.getResultTypes());
    for (unsigned i = carried; i < types.size(); ++i)
      types[i] = cast<RankedTensorType>(types[i]).clone(
          cast<RankedTensorType>(returned[i]).getElementType());
    ValueRange all(operands);
    auto fresh = LoopOp::create(
        outside, types, loop.getBody(), all.take_front(invariants),
        all.slice(invariants, carried), all.drop_front(invariants + carried),
        loop.getRounds(), loop.getReverse());
    for (auto [old, value] :
         llvm::zip_equal(loop.getResults(), fresh.getResults()))
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
  unsigned invariants;
  const unsigned carried;
};

struct HoistLoops : mp::impl::HoistLoopsBase<HoistLoops> {
  using Base::Base;

  void runOnOperation() override {
    dropDead();
    DenseSet<Operation *> called = calledByLoops(getOperation()), given;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!called.contains(function)) {
        giveBodies(function, given);
        hoistIn(function);
      }
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
