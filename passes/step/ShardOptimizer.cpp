//===- ShardOptimizer.cpp - divide the state of optimizers among ranks ----===//
//
// A slot becomes a rank's part of it. What is computed from it element by
// element is computed for the part, until something needs the whole tensor.
// What nothing needs any more as a whole is dead, and goes.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/step/RankParts.h"

namespace mp {
#define GEN_PASS_DEF_SHARDOPTIMIZER
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

/// Whether elements of the results are computed from the elements of operands
/// at the same place, and from numbers.
static bool isElementByElement(Operation *op) {
  auto scalar = dyn_cast<ScalarOpInterface>(op);
  if (!scalar || scalar.takesIndex())
    return false;
  ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    RankedTensorType type = tensorType(operand);
    return type.getRank() == 0 || type.getShape() == shape;
  });
}

namespace {
/// Rewrites one function.
class Sharding {
public:
  Sharding(func::FuncOp function, int64_t ranks,
           const llvm::StringMap<VariableOp> &sharded)
      : function(function), sharded(sharded), parts(function, ranks) {}

  void run() {
    auto ops = llvm::to_vector(
        llvm::make_pointer_range(function.getBody().front().getOperations()));
    for (Operation *op : ops)
      rewrite(op);
    eraseDead(function);
    joinExchanges(function, kBucketBytes);
  }

private:
  void rewrite(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (auto found = sharded.find(read.getVariable()); found != sharded.end())
        readPart(read, found->second);
      return;
    }
    if (auto write = dyn_cast<WriteOp>(op);
        write && sharded.contains(write.getVariable()))
      return write.getValueMutable().assign(parts.of(write.getValue(), op));
    if (llvm::none_of(op->getOperands(),
                      [&](Value v) { return parts.isKnown(v); }))
      return;
    if (isElementByElement(op))
      return computePart(op);
    if (isa<MaxOp, AnyOp>(op) && tensorType(op->getResult(0)).getRank() == 0)
      return reducePart(op);
    for (OpOperand &operand : op->getOpOperands())
      if (parts.isKnown(operand.get()))
        operand.set(parts.whole(operand.get()));
  }

  /// The old read stays until nothing uses it; its type stands for the whole.
  void readPart(ReadOp read, VariableOp variable) {
    OpBuilder builder(read);
    auto part = ReadOp::create(builder, read.getLoc(), variable.getTensorType(),
                               read.getVariable());
    parts.add(read, part);
  }

  void computePart(Operation *op) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (tensorType(operand).getRank() != 0)
        mapping.map(operand, parts.of(operand, op));
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op, mapping);
    for (auto [whole, part] :
         llvm::zip_equal(op->getResults(), copy->getResults())) {
      part.setType(parts.typeOf(tensorType(whole)));
      parts.add(whole, part);
    }
  }

  /// A maximum, and whether a flag is set anywhere, is that of the parts'.
  void reducePart(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value part = parts.withoutPadding(op->getOperand(0), op);
    bool isMax = isa<MaxOp>(op);
    int64_t all[] = {0};
    Value own = isMax ? Value(MaxOp::create(b, part, all, false))
                      : Value(AnyOp::create(b, part, all, false));
    op->getResult(0).replaceAllUsesWith(allReduce(
        b, own, isMax ? RankReduction::max : RankReduction::logicalOr));
  }

  func::FuncOp function;
  const llvm::StringMap<VariableOp> &sharded;
  RankParts parts;
};

struct ShardOptimizer : mp::impl::ShardOptimizerBase<ShardOptimizer> {
  using Base::Base;

  void runOnOperation() override {
    if (ranks < 1) {
      getOperation().emitError()
          << "ranks is " << ranks.getValue() << ", expected a positive number";
      return signalPassFailure();
    }
    if (ranks == 1)
      return markAllAnalysesPreserved();
    llvm::StringMap<VariableOp> sharded;
    for (auto variable : getOperation().getOps<VariableOp>())
      if (isSlot(variable) && !variable.getPartOf()) {
        divide(variable);
        sharded[variable.getSymName()] = variable;
      }
    if (sharded.empty())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Sharding(function, ranks, sharded).run();
  }

private:
  /// A number is not divided: it is no smaller than its part.
  static bool isSlot(VariableOp variable) {
    auto role = variable.getRole();
    return role && role->getRole() == StateRole::slot &&
           variable.getTensorType().getRank() != 0 &&
           variable.getTensorType().getNumElements() > 0;
  }

  void divide(VariableOp variable) {
    RankedTensorType whole = variable.getTensorType();
    variable.setPartOfAttr(TypeAttr::get(whole));
    variable.setTypeAttr(TypeAttr::get(RankParts::typeOf(whole, ranks)));
  }
};
} // namespace
