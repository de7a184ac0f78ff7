//===- InlineRounds.cpp - a loop of one round is its ops ------------------===//
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"

namespace mp {
#define GEN_PASS_DEF_INLINEROUNDS
#include "passes/loops/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

static void inlineRound(LoopOp loop) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  Block &block = loop.lookUpBody().getBody().front();
  // A value of one round has a first dimension of one.
  auto withType = [&](Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    return ReshapeOp::create(builder, cast<RankedTensorType>(type), value);
  };
  IRMapping mapping;
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), loop.getOperands()))
    mapping.map(argument, withType(operand, argument.getType()));
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, returned] :
       llvm::zip_equal(loop.getResults(), block.getTerminator()->getOperands()))
    result.replaceAllUsesWith(
        withType(mapping.lookup(returned), result.getType()));
  loop.erase();
}

namespace {
struct InlineRounds : mp::impl::InlineRoundsBase<InlineRounds> {
  using Base::Base;

  void runOnOperation() override {
    // A round may hold other loops of one round.
    for (auto loops = loopsOfOneRound(); !loops.empty();
         loops = loopsOfOneRound()) {
      for (LoopOp loop : loops)
        inlineRound(loop);
      dropUnusedBodies(getOperation());
    }
  }

private:
  SmallVector<LoopOp> loopsOfOneRound() {
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) {
      if (loop.getRounds() == 1)
        loops.push_back(loop);
    });
    return loops;
  }
};
} // namespace
