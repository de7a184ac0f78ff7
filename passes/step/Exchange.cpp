//===- Exchange.cpp - values that ranks combine ---------------------------===//
#include "passes/step/Exchange.h"
#include "dialect/ops/Logic.h"
#include "passes/analysis/VariableTable.h"
#include "program/Names.h"

using namespace mlir;
using namespace mp;

Value mp::readIdle(ImplicitLocOpBuilder &b, StringRef step) {
  auto module =
      b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto flag = RankedTensorType::get({}, b.getI1Type());
  std::string name = (step + kIdleVariable).str();
  VariableTable(module).create(b.getLoc(), name, flag, StateKind::window, 0);
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

static int64_t bytesOf(AllReduceOp op) {
  int64_t bytes = 0;
  for (Value input : op.getInputs())
    bytes += tensorType(input).getNumElements() *
             llvm::divideCeil(elementType(input).getIntOrFloatBitWidth(), 8);
  return bytes;
}

namespace {
/// Exchanges that become one at the place of the last of them.
struct Bucket {
  SmallVector<AllReduceOp> ops;
  int64_t bytes = 0;

  bool isLike(AllReduceOp op) const {
    AllReduceOp first = ops.front();
    return first.getReduction() == op.getReduction() &&
           elementType(first.getInputs()[0]) == elementType(op.getInputs()[0]);
  }
  bool isNeededBefore(Operation *place) const {
    return llvm::any_of(ops, [&](AllReduceOp op) {
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
    for (AllReduceOp op : ops) {
      llvm::append_range(inputs, op.getInputs());
      llvm::append_range(old, op.getOutputs());
      locations.push_back(op.getLoc());
    }
    AllReduceOp last = ops.back();
    OpBuilder builder(last);
    auto joined = AllReduceOp::create(
        builder, FusedLoc::get(last.getContext(), locations),
        last.getReduction(), inputs);
    for (auto [before, now] : llvm::zip_equal(old, joined.getOutputs()))
      before.replaceAllUsesWith(now);
    for (AllReduceOp op : ops)
      op.erase();
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
  for (auto op : llvm::to_vector(function.getOps<AllReduceOp>())) {
    close([&](Bucket &other) { return other.isNeededBefore(op); });
    auto alike =
        llvm::find_if(open, [&](Bucket &other) { return other.isLike(op); });
    if (alike == open.end())
      alike = open.insert(open.end(), Bucket());
    alike->ops.push_back(op);
    alike->bytes += bytesOf(op);
    close([&](Bucket &other) { return other.bytes >= bucket; });
  }
  close([](Bucket &) { return true; });
}
