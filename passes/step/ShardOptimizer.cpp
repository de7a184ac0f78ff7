//===- ShardOptimizer.cpp - divide the state of optimizers among ranks ----===//
//
// A slot becomes a rank's part of it, and so does a master of which the graph
// reads a copy. What is computed from it element by element is computed for the
// part, until something needs the whole tensor. What nothing needs any more as
// a whole is dead, and goes.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/analysis/VariableTable.h"
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

/// Whether an op gives the same number if each rank reduces its part, and the
/// ranks reduce what they have.
static bool reducesByParts(Operation *op) {
  return isa<MaxOp, AnyOp>(op) && tensorType(op->getResult(0)).getRank() == 0;
}

/// Whether parts of what is read are enough for all that is computed from it,
/// up to what is written.
static bool isReadByParts(ReadOp read) {
  SmallVector<Value> values = {read};
  DenseSet<Operation *> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (isa<WriteOp>(user) || reducesByParts(user) ||
          !seen.insert(user).second)
        continue;
      if (!isElementByElement(user))
        return false;
      llvm::append_range(values, user->getResults());
    }
  return true;
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
    if (reducesByParts(op))
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
    DenseSet<StringAttr> masters = dividedMasters();
    llvm::StringMap<VariableOp> sharded;
    for (auto variable : getOperation().getOps<VariableOp>())
      if (isDivided(variable, masters)) {
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
  /// Returns the parameters of which the graph reads copies alone, and whose
  /// update works element by element.
  DenseSet<StringAttr> dividedMasters() {
    VariableTable variables(getOperation());
    DenseSet<StringAttr> masters;
    for (auto variable : getOperation().getOps<VariableOp>())
      if (variable.getKind() == StateKind::parameter &&
          !variables.derivedFrom(variable.getSymName()).empty())
        masters.insert(variable.getSymNameAttr());
    getOperation().walk([&](ReadOp read) {
      VariableOp variable = variables.lookup(read.getVariable());
      if (StringAttr master = masterOf(variable); !isReadByParts(read))
        masters.erase(master);
    });
    return masters;
  }

  /// Returns the parameter whose master or average a variable is.
  static StringAttr masterOf(VariableOp variable) {
    auto role = variable.getRole();
    return role && role->getRole() == StateRole::average
               ? role->getParameter().getAttr()
               : variable.getSymNameAttr();
  }

  /// A number is not divided: it is no smaller than its part.
  static bool isDivided(VariableOp variable,
                        const DenseSet<StringAttr> &masters) {
    if (variable.getPartOf() || variable.getTensorType().getRank() == 0 ||
        variable.getTensorType().getNumElements() == 0)
      return false;
    auto role = variable.getRole();
    return (role && role->getRole() == StateRole::slot) ||
           masters.contains(masterOf(variable));
  }

  void divide(VariableOp variable) {
    RankedTensorType whole = variable.getTensorType();
    variable.setPartOfAttr(TypeAttr::get(whole));
    variable.setTypeAttr(TypeAttr::get(RankParts::typeOf(whole, ranks)));
  }
};
} // namespace
