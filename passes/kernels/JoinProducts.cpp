//===- JoinProducts.cpp - sums of products become one product -------------===//
//
// A weight that all time steps of a scan share has a gradient that is a sum of
// products, one of each time step. One product over the rows of all of them
// writes the gradient once.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/Reduction.h"
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "passes/kernels/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Whether the op adds something up over the first dimension of its operands,
/// so that terms of more rows are added up by the same op.
bool addsRows(Operation *op) {
  if (auto sum = dyn_cast<SumOp>(op))
    return llvm::is_contained(sum.getDims(), 0) &&
           tensorType(sum.getOperand()).getRank() > 1;
  auto product = dyn_cast<MatmulOp>(op);
  return product && product.getTransposeA() && !product.getTransposeB() &&
         tensorType(product.getLhs()).getRank() == 2 &&
         tensorType(product.getRhs()).getRank() == 2;
}

/// Whether joining a product's operands costs less than adding up its results.
bool isWorthIt(MatmulOp product) {
  int64_t read = 0;
  for (Value operand : product->getOperands())
    read += tensorType(operand).getNumElements();
  return read < product.getType().getNumElements();
}

/// Whether the ops differ in their operands alone, and these in their rows.
bool areAlike(Operation *a, Operation *b) {
  if (a->getName() != b->getName() ||
      a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute() ||
      a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary() ||
      a->getResultTypes() != b->getResultTypes())
    return false;
  return llvm::all_of(
      llvm::zip_equal(a->getOperands(), b->getOperands()), [](auto pair) {
        auto x = tensorType(std::get<0>(pair)),
             y = tensorType(std::get<1>(pair));
        return x.getElementType() == y.getElementType() &&
               x.getShape().drop_front() == y.getShape().drop_front();
      });
}

struct JoinProducts : mp::impl::JoinProductsBase<JoinProducts> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    joinedOperands.clear();
    for (AddOp root : rootsIn(function))
      join<MatmulOp>(root);
    for (AddOp root : rootsIn(function))
      join<SumOp>(root);
    for (AddOp add : function.getOps<AddOp>())
      keepApart(add);
    keepInOrder(function);
  }

private:
  /// Lets the sum that the product of a part of a loss is added to be stored
  /// before: all products would have to be, to be added up at once.
  static void keepApart(AddOp add) {
    for (auto [product, sum] : {std::pair(add.getLhs(), add.getRhs()),
                                std::pair(add.getRhs(), add.getLhs())}) {
      auto made = product.getDefiningOp<MatmulOp>();
      auto before = sum.getDefiningOp<AddOp>();
      if (!made || !made->hasAttr(kChunkAttr) || !before)
        continue;
      OpBuilder builder(add);
      Value stored =
          RecomputeBarrierOp::create(builder, add.getLoc(), sum, sum);
      add->replaceUsesOfWith(sum, stored);
      return;
    }
  }

  /// Lets the logits of a part of a loss wait for the gradients of the part
  /// before it: a target that puts launches in another order could take the
  /// logits of all parts first.
  static void keepInOrder(func::FuncOp function) {
    IntegerAttr part;
    Operation *last = nullptr, *before = nullptr; // of a part
    for (Operation &op : function.getBody().front()) {
      auto own = op.getAttrOfType<IntegerAttr>(kChunkAttr);
      if (!own)
        continue;
      if (own != part)
        before = last;
      part = own;
      last = &op;
      if (!before || !isa<LinearOp, MatmulOp>(op))
        continue;
      OpBuilder builder(&op);
      op.setOperand(0, RecomputeBarrierOp::create(builder, op.getLoc(),
                                                  op.getOperand(0),
                                                  before->getResult(0)));
      before = nullptr;
    }
  }

  static SmallVector<AddOp> rootsIn(func::FuncOp function) {
    return llvm::to_vector(llvm::make_filter_range(
        function.getOps<AddOp>(), [](AddOp add) { return !isInner(add); }));
  }

  /// Whether the op is a term of another sum and nothing else uses it.
  static bool isInner(AddOp add) {
    if (!add->hasOneUse())
      return false;
    auto user = dyn_cast<AddOp>(*add->user_begin());
    return user && user.getType() == add.getType();
  }

  static SmallVector<Value> termsOf(AddOp root) {
    SmallVector<Value> terms, work{root.getRhs(), root.getLhs()};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      auto add = value.getDefiningOp<AddOp>();
      if (add && value.getType() == root.getType() && isInner(add))
        work.append({add.getRhs(), add.getLhs()});
      else
        terms.push_back(value);
    }
    return terms;
  }

  template <typename Op> void join(AddOp root) {
    SmallVector<SmallVector<Operation *>> groups;
    SmallVector<Value> rest;
    for (Value term : termsOf(root)) {
      auto op = term.getDefiningOp<Op>();
      if (!op || !op->hasOneUse() || term.getType() != root.getType() ||
          !addsRows(op) || !isCandidate(op)) {
        rest.push_back(term);
        continue;
      }
      auto *group = llvm::find_if(groups, [&](const auto &other) {
        return areAlike(other.front(), op);
      });
      if (group == groups.end())
        groups.push_back({op});
      else
        group->push_back(op);
    }
    if (llvm::none_of(groups, [](const auto &g) { return g.size() > 1; }))
      return;
    OpBuilder builder(root);
    for (SmallVector<Operation *> &group : groups)
      rest.push_back(joined(builder, group));
    Value total = rest.front();
    for (Value term : ArrayRef(rest).drop_front())
      total = AddOp::create(builder, root.getLoc(), total, term);
    root.replaceAllUsesWith(total);
    eraseUnused(root);
  }

  static bool isCandidate(MatmulOp product) { return isWorthIt(product); }
  /// The rows that a product adds up are joined anyway.
  bool isCandidate(SumOp sum) const {
    return joinedOperands.contains(sum->getOperand(0));
  }

  /// Returns the sum of what the ops compute.
  Value joined(OpBuilder &builder, SmallVector<Operation *> &group) {
    if (group.size() == 1)
      return group.front()->getResult(0);
    // All sums over the same time steps have the same concatenations.
    auto order = [](Operation *op) {
      Operation *maker = op->getOperand(0).getDefiningOp();
      return maker ? maker : op;
    };
    llvm::sort(group, [&](Operation *a, Operation *b) {
      Operation *first = order(a), *second = order(b);
      return first == second ? a->isBeforeInBlock(b)
                             : first->isBeforeInBlock(second);
    });
    auto locations =
        llvm::map_to_vector(group, [](Operation *op) { return op->getLoc(); });
    Location location = FusedLoc::get(builder.getContext(), locations);
    SmallVector<Value> operands;
    for (unsigned i = 0; i < group.front()->getNumOperands(); ++i) {
      auto parts = llvm::map_to_vector(
          group, [&](Operation *op) { return op->getOperand(i); });
      joinedOperands.insert_range(parts);
      operands.push_back(ConcatOp::create(builder, location, parts, /*dim=*/0));
    }
    Operation *op = builder.clone(*group.front());
    op->setLoc(location);
    op->setOperands(operands);
    return op->getResult(0);
  }

  static void eraseUnused(Operation *root) {
    SmallVector<Operation *> work{root};
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!op->use_empty() || !isa<AddOp, MatmulOp, SumOp>(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          if (!llvm::is_contained(work, maker))
            work.push_back(maker);
      op->erase();
    }
  }

  DenseSet<Value> joinedOperands;
};
} // namespace
