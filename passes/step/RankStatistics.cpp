//===- RankStatistics.cpp - statistics of several ranks -------------------===//
#include "passes/step/RankStatistics.h"
#include "dialect/Slices.h"
#include "dialect/ops/Collective.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/Composites.h"
#include "passes/analysis/RankFlow.h"
#include "passes/step/Exchange.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mp;

namespace {
/// The writes of one step, and the ops by which they follow their variables.
class Chain {
public:
  Chain(func::FuncOp step, int64_t ranks, Value idle)
      : step(step), ranks(ranks), idle(idle),
        b(step.getLoc(), step.getContext()) {}

  LogicalResult run(const VariableTable &variables) {
    RankFlow flow(step);
    for (auto write : step.getOps<WriteOp>())
      if (!variables.changesWhenSkipped(write) &&
          !isOfAllRanks(write.getValue(), flow)) {
        if (write.getPredicate())
          return write.emitOpError()
                 << "writes @" << write.getVariable()
                 << " under a condition, which ranks cannot follow one after "
                    "the other";
        writes.push_back(write);
      }
    if (writes.empty())
      return success();
    openComposites();
    for (WriteOp write : writes)
      follow(write.getValue());
    llvm::sort(links, [](Operation *lhs, Operation *rhs) {
      return lhs->isBeforeInBlock(rhs);
    });
    // After all that ranks compute from their rows.
    b.setInsertionPoint(step.getBody().front().getTerminator());
    gather();
    build();
    return success();
  }

private:
  /// Whether ranks have computed a value together, so that it follows them all
  /// at once.
  static bool isOfAllRanks(Value value, const RankFlow &flow) {
    if (flow.differs(value))
      return false;
    SetVector<Operation *> work;
    if (Operation *op = value.getDefiningOp())
      work.insert(op);
    for (unsigned i = 0; i < work.size(); ++i) {
      if (isa<AllReduceOp>(work[i]))
        return true;
      for (Value operand : work[i]->getOperands())
        if (Operation *op = operand.getDefiningOp())
          work.insert(op);
    }
    return false;
  }

  bool isWritten(Value value) const {
    auto read = value.getDefiningOp<ReadOp>();
    return read && llvm::any_of(writes, [&](WriteOp write) {
             return write.getVariable() == read.getVariable();
           });
  }

  /// Lays open what ops on the way from a variable to its write consist of: a
  /// batch norm, its new statistics.
  void openComposites() {
    for (WriteOp write : writes)
      if (auto composite =
              write.getValue().getDefiningOp<DecomposableOpInterface>();
          composite && llvm::any_of(composite->getOperands(),
                                    [&](Value v) { return isWritten(v); }))
        decomposeInPlace(composite);
  }

  /// Whether a value is computed from a variable, element by element, and so
  /// again for each rank. What a rank sums up stays its own.
  bool isLink(Value value) {
    auto [known, isNew] = linked.try_emplace(value, false);
    if (!isNew)
      return known->second;
    Operation *op = value.getDefiningOp();
    bool found = isWritten(value);
    if (isa_and_nonnull<ScalarOpInterface, ReshapeOp>(op))
      for (Value operand : op->getOperands())
        found |= isLink(operand);
    return linked[value] = found;
  }

  void follow(Value value) {
    Operation *op = value.getDefiningOp();
    if (isWritten(value) || isa_and_nonnull<ConstantOp>(op))
      return;
    if (!isLink(value)) {
      owned.insert(value);
      return;
    }
    if (!llvm::is_contained(links, op)) {
      links.push_back(op);
      llvm::for_each(op->getOperands(), [&](Value v) { follow(v); });
    }
  }

  /// Gathers what is a rank's own, one exchange for each element type.
  void gather() {
    owned.insert(idle);
    llvm::MapVector<Type, SmallVector<Value>> byType;
    for (Value value : owned)
      byType[elementType(value)].push_back(value);
    for (auto &[type, values] : byType) {
      auto all = AllGatherOp::create(b, values, ranks);
      for (auto [value, stacked] : llvm::zip_equal(values, all.getOutputs()))
        gathered[value] = stacked;
    }
  }

  /// Returns what a rank had for a value.
  Value ofRank(Value value, int64_t rank) {
    Value stacked = gathered.lookup(value);
    Value slice = sliceAlong(b, stacked, /*dim=*/0, rank, 1);
    return ReshapeOp::create(b, tensorType(value), slice);
  }

  void build() {
    llvm::StringMap<Value> state;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      IRMapping mapping;
      for (Operation *link : links)
        for (Value operand : link->getOperands())
          if (auto read = operand.getDefiningOp<ReadOp>())
            if (Value now = state.lookup(read.getVariable()))
              mapping.map(operand, now);
      for (Value value : owned)
        mapping.map(value, ofRank(value, rank));
      for (Operation *link : links)
        b.clone(*link, mapping);
      Value isIdle = mapping.lookup(idle);
      for (WriteOp write : writes) {
        Value &now = state[write.getVariable()];
        Value next = mapping.lookupOrDefault(write.getValue());
        // Rank 0 always has rows.
        now = rank == 0 ? next : choose(b, isIdle, now, next);
      }
    }
    for (WriteOp write : writes) {
      write->moveBefore(step.getBody().front().getTerminator());
      write.getValueMutable().assign(state.lookup(write.getVariable()));
    }
  }

  func::FuncOp step;
  int64_t ranks;
  Value idle;
  ImplicitLocOpBuilder b;
  SmallVector<WriteOp> writes;
  SmallVector<Operation *> links;
  SetVector<Value> owned; ///< what a rank computes from its rows
  DenseMap<Value, bool> linked;
  DenseMap<Value, Value> gathered;
};
} // namespace

LogicalResult mp::chainStatistics(func::FuncOp step, int64_t ranks, Value idle,
                                  const VariableTable &variables) {
  return Chain(step, ranks, idle).run(variables);
}
