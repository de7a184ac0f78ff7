//===- Invariants.cpp - what all rounds of a loop read --------------------===//
#include "codegen/plan/Invariants.h"
#include "codegen/plan/Aliases.h"
#include "dialect/ops/Loop.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mp;

/// On a kernel: the numbers of its operands that all rounds have in common.
constexpr llvm::StringLiteral kInvariantAttr = "mp.invariant";

/// Whether a value of a body is one of its first arguments, or a view of one.
static bool isAmongFirst(Value value, unsigned count) {
  while (Operation *view = value.getDefiningOp()) {
    if (!Aliases::isView(view) || view->getNumOperands() != 1)
      return false;
    value = view->getOperand(0);
  }
  return cast<BlockArgument>(value).getArgNumber() < count;
}

static void noteInvariants(func::FuncOp body, unsigned count) {
  for (auto kernel : body.getOps<KernelOp>()) {
    SmallVector<int64_t> invariants;
    for (OpOperand &operand : kernel->getOpOperands())
      if (isAmongFirst(operand.get(), count))
        invariants.push_back(operand.getOperandNumber());
    if (!invariants.empty())
      kernel->setAttr(kInvariantAttr,
                      DenseI64ArrayAttr::get(body.getContext(), invariants));
  }
}

void mp::noteInvariants(ModuleOp module) {
  llvm::MapVector<Operation *, unsigned> counts; // of all that call a body
  module.walk([&](LoopOp loop) {
    unsigned own = loop.getInvariant().size();
    auto [count, isNew] = counts.try_emplace(loop.lookUpBody(), own);
    count->second = std::min(count->second, own);
  });
  for (auto [body, count] : counts)
    ::noteInvariants(cast<func::FuncOp>(body), count);
}

bool mp::isInvariant(KernelOp kernel, unsigned operand) {
  auto noted = kernel->getAttrOfType<DenseI64ArrayAttr>(kInvariantAttr);
  return noted && llvm::is_contained(noted.asArrayRef(), operand);
}
