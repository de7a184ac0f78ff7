//===- Exchanges.cpp - calls that go on while later steps run -------------===//
#include "codegen/plan/Exchanges.h"

using namespace mlir;
using namespace mp;

void Exchanges::started(StringRef waitRoutine, StepBufferRefs touched) {
  Wait wait;
  wait.step.routine = waitRoutine.str();
  wait.step.attributes = {{"exchange", count++}};
  llvm::append_range(wait.step.args, touched.read);
  llvm::append_range(wait.step.args, touched.written);
  // What it gives is there only now, and what it takes may change from now on.
  wait.touched.read = touched.read;
  wait.touched.written = touched.written;
  wait.touched.exchange = StepBufferRefs::Exchange::Wait;
  pending.push_back(std::move(wait));
}

/// Whether two places are in one buffer. Offsets do not matter: a buffer is
/// waited for as a whole.
static bool meet(const StepBufferRefs &lhs, const StepBufferRefs &rhs) {
  auto all = [](const StepBufferRefs &refs) {
    return llvm::concat<const BufferRef>(refs.read, refs.written);
  };
  return llvm::any_of(all(lhs), [&](const BufferRef &a) {
    return llvm::any_of(all(rhs), [&](const BufferRef &b) {
      return a.space == b.space && a.index == b.index;
    });
  });
}

std::vector<Exchanges::Wait> Exchanges::until(const StepBufferRefs &touched) {
  size_t count = pending.size();
  while (count > 0 && !meet(pending[count - 1].touched, touched))
    --count;
  return take(count);
}

std::vector<Exchanges::Wait> Exchanges::take(size_t count) {
  auto end = pending.begin() + count;
  std::vector<Wait> taken(std::make_move_iterator(pending.begin()),
                          std::make_move_iterator(end));
  pending.erase(pending.begin(), end);
  return taken;
}

bool mp::allowsInPlace(AnchorOpInterface anchor, unsigned operand,
                       unsigned result) {
  for (OpResult own : anchor->getResults()) {
    bool isResult = llvm::any_of(own.getUses(), [&](OpOperand &use) {
      return isa<YieldOp>(use.getOwner()) && use.getOperandNumber() == result;
    });
    if (!isResult)
      continue;
    // What only an epilogue reads is still read while results are made.
    bool isGiven = false;
    for (OpOperand &used : anchor->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(used.get());
      if (!argument || argument.getArgNumber() != operand)
        continue;
      if (!anchor.mayReplace(used.getOperandNumber(), own.getResultNumber()))
        return false;
      isGiven = true;
    }
    return isGiven;
  }
  return false;
}
