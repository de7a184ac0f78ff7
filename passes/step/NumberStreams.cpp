//===- NumberStreams.cpp - a stream for each random op --------------------===//
#include "dialect/ops/LossScaling.h"
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_NUMBERSTREAMS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct NumberStreams : mp::impl::NumberStreamsBase<NumberStreams> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(collect(function)))
        return signalPassFailure();
    uint64_t next = 0;
    getOperation().walk([&](RandomOpInterface op) {
      if (op.getStream())
        return;
      while (used.contains(next))
        ++next;
      op.setStream(next++);
    });
  }

private:
  LogicalResult collect(func::FuncOp function) {
    // One of several functions may be made from another.
    DenseMap<uint64_t, Operation *> own;
    bool hasBackward = !function.getOps<SeedOp>().empty();
    WalkResult walked = function.walk([&](RandomOpInterface op) {
      if (!op.getStream())
        return WalkResult::advance();
      used.insert(*op.getStream());
      if (hasBackward || op.drawsAgain())
        return WalkResult::advance();
      auto [known, isNew] = own.try_emplace(*op.getStream(), op);
      if (isNew)
        return WalkResult::advance();
      auto diagnostic = op->emitOpError()
                        << "draws from stream " << *op.getStream()
                        << ", which another op has";
      diagnostic.attachNote(known->second->getLoc()) << "the other op";
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  DenseSet<uint64_t> used;
};
} // namespace
