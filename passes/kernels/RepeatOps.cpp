//===- RepeatOps.cpp - ops again where they are used again ----------------===//
//
// A step uses silu of a gate going forward and again going backward, where the
// gate itself is read, too. Computing it there again costs less than keeping it
// until then.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/RepeatOps.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mp;

namespace {
class Repeater {
public:
  explicit Repeater(Block &block) : block(block) {
    unsigned anchors = 0;
    for (Operation &op : block) {
      before[&op] = anchors;
      anchors += isa<AnchorOpInterface>(op);
    }
  }

  void run() {
    SmallVector<Operation *> found;
    for (Operation &op : block)
      if (isExpensive(&op))
        found.push_back(&op);
    llvm::for_each(found, [&](Operation *op) { repeat(op); });
  }

private:
  static bool isExpensive(Operation *op) {
    auto scalar = dyn_cast<ScalarOpInterface>(op);
    return scalar && scalar.isExpensive() && !scalar.takesIndex() &&
           op->getNumOperands() == 1 && op->getNumResults() == 1;
  }

  /// Adds the uses of a value, also in other shapes.
  static void addUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
    for (OpOperand &use : value.getUses())
      if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner()))
        addUses(reshape, uses);
      else
        uses.push_back(&use);
  }

  /// Gives each use a result of its own that comes after an anchor's kernel,
  /// or reads another shape, unless something else than loops reads the result,
  /// so that it is stored.
  void repeat(Operation *op) {
    SmallVector<OpOperand *> uses, read;
    addUses(op->getResult(0), uses);
    auto isInLoops = [](OpOperand *use) {
      return isa<ScalarOpInterface>(use->getOwner());
    };
    if (uses.size() < 2 || !llvm::all_of(uses, isInLoops))
      return;
    Operation *first = uses[0]->getOwner();
    for (OpOperand *use : uses)
      if (use->getOwner()->isBeforeInBlock(first))
        first = use->getOwner();
    auto isLater = [&](OpOperand *use) {
      return before.lookup(use->getOwner()) > before.lookup(first);
    };
    addUses(op->getOperand(0), read);
    if (!llvm::any_of(read, isLater))
      return;
    for (OpOperand *use : uses)
      if (isLater(use) || use->get() != op->getResult(0))
        computeAt(*use, op);
    if (op->use_empty())
      op->erase();
  }

  static void computeAt(OpOperand &use, Operation *op) {
    OpBuilder builder(use.getOwner());
    auto type = tensorType(use.get());
    IRMapping mapping;
    mapping.map(op->getOperand(0), operandAs(type.getShape(), use, op));
    Operation *again = builder.clone(*op, mapping);
    again->getResult(0).setType(type);
    Operation *view = use.get().getDefiningOp();
    use.set(again->getResult(0));
    while (view != op && view->use_empty()) {
      Operation *of = view->getOperand(0).getDefiningOp();
      view->erase();
      view = of;
    }
  }

  /// Returns the op's operand in a shape, as others before the use read it.
  static Value operandAs(ArrayRef<int64_t> shape, OpOperand &use,
                         Operation *op) {
    Value operand = op->getOperand(0);
    auto type = tensorType(operand).clone(shape);
    if (operand.getType() == type)
      return operand;
    for (Operation *user : operand.getUsers())
      if (isa<ReshapeOp>(user) && user->getResult(0).getType() == type &&
          user->isBeforeInBlock(use.getOwner()))
        return user->getResult(0);
    OpBuilder builder(use.getOwner());
    return ReshapeOp::create(builder, op->getLoc(), type, operand);
  }

  Block &block;
  /// The anchors that come before an op.
  DenseMap<Operation *, unsigned> before;
};
} // namespace

void mp::repeatOps(func::FuncOp function) {
  Repeater(function.getBody().front()).run();
}
