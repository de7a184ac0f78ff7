//===- OrderChunks.cpp - the backward of a part after its forward ---------===//
//
// Autodiff puts backward after all of forward, so that the logits of every part
// would wait for it. They need not: the gradient of a loss with respect to its
// logits reads the logits and the seed, which are there before any loss is.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Reduction.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "llvm/ADT/MapVector.h"

namespace mp {
#define GEN_PASS_DEF_ORDERCHUNKS
#include "passes/autodiff/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

static IntegerAttr chunkOf(Operation *op) {
  return op ? op->getAttrOfType<IntegerAttr>(kChunkAttr) : IntegerAttr();
}

namespace {
class Order {
public:
  explicit Order(func::FuncOp step) : step(step) {
    for (Operation &op : step.getBody().front())
      if (IntegerAttr chunk = chunkOf(&op))
        parts[chunk].push_back(&op);
  }

  LogicalResult run() {
    if (parts.empty())
      return success();
    auto seeds = step.getOps<SeedOp>();
    if (seeds.empty())
      return step.emitOpError()
             << "has no backward: run mp-autodiff before mp-order-chunks";
    seed = *seeds.begin();
    if (std::next(seeds.begin()) != seeds.end())
      return step.emitOpError()
             << "minimises several losses, so that loss-chunks cannot take the "
                "rows of one in parts";
    foldCasts();
    if (failed(findTail()))
      return failure();
    for (auto &[chunk, ops] : parts) {
      addUpWide(chunk, ops);
      sink(ops);
    }
    Operation *end = step.getBody().front().getTerminator();
    for (Operation *op : tail)
      op->moveBefore(end);
    return success();
  }

private:
  /// Removes the casts of a factor to f32 and back, which were there for its
  /// gradient.
  void foldCasts() {
    for (auto &[chunk, ops] : parts)
      llvm::erase_if(ops, [](Operation *op) {
        auto back = dyn_cast<CastOp>(op);
        auto wide = back ? back.getInput().getDefiningOp<CastOp>() : CastOp();
        if (!wide || chunkOf(wide) ||
            wide.getInput().getType() != back.getType())
          return false;
        back.replaceAllUsesWith(wide.getInput());
        back.erase();
        return true;
      });
  }

  bool isForward(Operation *op) const { return op->isBeforeInBlock(seed); }

  /// Finds what takes the losses of the parts. Backward must not need it.
  LogicalResult findTail() {
    DenseSet<Operation *> isTail;
    for (Operation &op : step.getBody().front()) {
      if (!isForward(&op))
        break;
      bool takes =
          !chunkOf(&op) && llvm::any_of(op.getOperands(), [&](Value operand) {
            Operation *maker = operand.getDefiningOp();
            return maker && (chunkOf(maker) || isTail.contains(maker));
          });
      if (!takes)
        continue;
      isTail.insert(&op);
      tail.push_back(&op);
      for (Operation *user : op.getUsers())
        if (!isForward(user) && !user->hasTrait<OpTrait::IsTerminator>())
          return refuse(&op, user);
    }
    return success();
  }

  static LogicalResult refuse(Operation *op, Operation *user) {
    auto diagnostic = op->emitOpError()
                      << "computes a value from the losses of all rows, which "
                         "the backward pass needs, so that loss-chunks cannot "
                         "take the rows in parts";
    diagnostic.attachNote(user->getLoc())
        << "'" << user->getName() << "' needs it here";
    return diagnostic;
  }

  /// Lets the gradients of factors leave their products in f32, where they are
  /// cast to it to be added up.
  void addUpWide(IntegerAttr chunk, ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      for (Operation *user : llvm::to_vector(op->getUsers()))
        if (auto product = dyn_cast<MatmulOp>(user);
            product && !isForward(product) && !chunkOf(product)) {
          // The mark keeps mp-join-products from joining what is in parts.
          product->setAttr(kChunkAttr, chunk);
          Value gradient =
              product.getTransposeA() ? product.getLhs() : product.getRhs();
          widen(product);
          for (Operation *other : llvm::to_vector(gradient.getUsers()))
            if (auto sum = dyn_cast<SumOp>(other))
              widen(sum);
        }
  }

  /// The cast that alone uses a value, to a wider type; null if there is none.
  static CastOp wideningOf(Value value) {
    auto cast =
        value.hasOneUse() ? dyn_cast<CastOp>(*value.user_begin()) : CastOp();
    bool widens = cast && elementType(cast).isF32() &&
                  elementType(value).getIntOrFloatBitWidth() == 16;
    return widens ? cast : CastOp();
  }

  static void widen(MatmulOp product) {
    CastOp cast = wideningOf(product);
    if (!cast || product.getOutDtype())
      return;
    product.setOutDtypeAttr(TypeAttr::get(elementType(cast)));
    (void)inferResultsAgain(product);
    cast.replaceAllUsesWith(product.getResult());
    cast.erase();
  }

  static void widen(SumOp sum) {
    CastOp cast = wideningOf(sum);
    if (!cast)
      return;
    ImplicitLocOpBuilder b(sum.getLoc(), sum);
    sum->setOperand(0, castTo(b, sum->getOperand(0), elementType(cast)));
    (void)inferResultsAgain(sum);
    cast.replaceAllUsesWith(sum.getResult());
    cast.erase();
  }

  /// Moves the ops of a part before the first op of backward that uses one.
  void sink(ArrayRef<Operation *> ops) {
    Operation *first = nullptr;
    for (Operation *op : ops)
      for (Operation *user : op->getUsers())
        if (!isForward(user) && (!first || user->isBeforeInBlock(first)))
          first = user;
    if (!first)
      return;
    for (Operation *op : ops)
      op->moveBefore(first);
  }

  func::FuncOp step;
  SeedOp seed;
  llvm::MapVector<IntegerAttr, SmallVector<Operation *>> parts;
  SmallVector<Operation *> tail;
};

struct OrderChunks : mp::impl::OrderChunksBase<OrderChunks> {
  using Base::Base;

  void runOnOperation() override {
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (func::FuncOp step = lookupStep(recipe);
          step && failed(Order(step).run()))
        return signalPassFailure();
  }
};
} // namespace
