//===- Exchange.cpp - values that ranks combine ---------------------------===//
#include "passes/step/Exchange.h"
#include "dialect/ops/Logic.h"
#include "program/Names.h"

using namespace mlir;
using namespace mp;

Value mp::readIdle(ImplicitLocOpBuilder &b, StringRef step,
                   VariableTable &variables) {
  auto flag = RankedTensorType::get({}, b.getI1Type());
  std::string name = (step + kIdleVariable).str();
  variables.create(b.getLoc(), name, flag, StateKind::window, 0);
  return ReadOp::create(b, flag, name);
}

Value mp::allReduce(ImplicitLocOpBuilder &b, Value part,
                    RankReduction reduction) {
  return AllReduceOp::create(b, reduction, part).getResult(0);
}

Value mp::choose(ImplicitLocOpBuilder &b, Value flag, Value yes, Value no) {
  if (!elementType(yes).isInteger(1))
    return SelectOp::create(b, flag, yes, no);
  return OrOp::create(b, AndOp::create(b, flag, yes),
                      AndOp::create(b, NotOp::create(b, flag), no));
}

void mp::moveUp(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp())
      if (!last || last->isBeforeInBlock(def))
        last = def;
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(&op->getBlock()->front());
}

static int64_t bytesOf(Operation *op) {
  int64_t bytes = 0;
  for (Value input : op->getOperands())
    bytes += tensorType(input).getNumElements() *
             llvm::divideCeil(elementType(input).getIntOrFloatBitWidth(), 8);
  return bytes;
}

namespace {
/// Exchanges of one kind that become one at the place of the last of them.
struct Bucket {
  SmallVector<Operation *> ops;
  int64_t bytes = 0;

  bool isLike(Operation *op) const {
    Operation *first = ops.front();
    return first->getName() == op->getName() &&
           first->getAttrDictionary() == op->getAttrDictionary() &&
           elementType(first->getOperand(0)) == elementType(op->getOperand(0));
  }
  bool isNeededBefore(Operation *place) const {
    return llvm::any_of(ops, [&](Operation *op) {
      return llvm::any_of(op->getUsers(), [&](Operation *user) {
        return user->isBeforeInBlock(place);
      });
    });
  }
  void join() {
    if (ops.size() < 2)
      return;
    SmallVector<Value> inputs, old;
    SmallVector<Location> locations;
    for (Operation *op : ops) {
      llvm::append_range(inputs, op->getOperands());
      llvm::append_range(old, op->getResults());
      locations.push_back(op->getLoc());
    }
    Operation *last = ops.back();
    OperationState state(FusedLoc::get(last->getContext(), locations),
                         last->getName(), inputs, ValueRange(old).getTypes(),
                         last->getAttrs());
    OpBuilder builder(last);
    Operation *joined = builder.create(state);
    for (auto [before, now] : llvm::zip_equal(old, joined->getResults()))
      before.replaceAllUsesWith(now);
    for (Operation *op : ops)
      op->erase();
  }
};
} // namespace

void mp::joinExchanges(func::FuncOp function, int64_t bucket) {
  SmallVector<Bucket> open;
  auto close = [&](auto condition) {
    llvm::erase_if(open, [&](Bucket &candidate) {
      if (!condition(candidate))
        return false;
      candidate.join();
      return true;
    });
  };
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isa<AllReduceOp, AllGatherOp>(op))
      continue;
    close([&](Bucket &other) { return other.isNeededBefore(&op); });
    auto alike =
        llvm::find_if(open, [&](Bucket &other) { return other.isLike(&op); });
    if (alike == open.end())
      alike = open.insert(open.end(), Bucket());
    alike->ops.push_back(&op);
    alike->bytes += bytesOf(&op);
    close([&](Bucket &other) { return other.bytes >= bucket; });
  }
  close([](Bucket &) { return true; });
}
