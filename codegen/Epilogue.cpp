// What stands behind an anchor and its target does not take in becomes a kernel
// that follows.
#include "codegen/Backend.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mp;

Operation *mp::anchorOf(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<AnchorOpInterface>(op))
      return &op;
  return nullptr;
}

/// The stages behind the anchor: all ops that have a body of their own.
static SmallVector<Operation *> epilogueOf(Operation *anchor) {
  SmallVector<Operation *> stages;
  for (Operation *op = anchor->getNextNode(); op; op = op->getNextNode())
    if (op->getNumRegions())
      stages.push_back(op);
  return stages;
}

/// Everything behind `last` moves to a kernel of its own.
static void splitBehind(KernelOp kernel, Operation *last) {
  Value handed = last->getResult(0);
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  auto rest =
      KernelOp::create(builder, kernel.getLoc(), kernel.getResultTypes(),
                       ValueRange{}, kernel.getPredicate());
  rest->setAttr("ops",
                builder.getStringAttr(
                    "epilogue of " +
                    kernel->getAttrOfType<StringAttr>("ops").getValue()));
  Block &from = kernel.getBody().front(), &to = rest.getBody().emplaceBlock();
  IRMapping mapping;
  mapping.map(handed, to.addArgument(handed.getType(), handed.getLoc()));
  builder.setInsertionPointToEnd(&to);
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    builder.clone(*op, mapping);

  builder.setInsertionPoint(kernel);
  auto first = KernelOp::create(builder, kernel.getLoc(), handed.getType(),
                                kernel.getInputs(), kernel.getPredicate());
  first->setAttr("ops", kernel->getAttr("ops"));
  while (&from.back() != last)
    from.back().erase();
  builder.setInsertionPointToEnd(&from);
  YieldOp::create(builder, kernel.getLoc(), handed);
  first.getBody().takeBody(kernel.getBody());
  rest.getInputsMutable().assign(first.getOutputs());
  kernel.replaceAllUsesWith(rest);
  kernel.erase();
}

void mp::splitEpilogues(func::FuncOp function, const Backend &backend) {
  for (auto kernel : llvm::to_vector(function.getOps<KernelOp>())) {
    Operation *anchor = anchorOf(kernel);
    if (!anchor)
      continue;
    auto stages = epilogueOf(anchor);
    std::optional<unsigned> accepted = backend.accepts(anchor, kernel);
    if (accepted && *accepted < stages.size())
      splitBehind(kernel, *accepted ? stages[*accepted - 1] : anchor);
  }
}
