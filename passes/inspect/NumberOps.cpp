//===- NumberOps.cpp - give each op that yields a value a number ----------===//
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_NUMBEROPS
#include "passes/inspect/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct NumberOps : mp::impl::NumberOpsBase<NumberOps> {
  using Base::Base;

  void runOnOperation() override {
    Builder builder(&getContext());
    int64_t last = 0;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The values that a region yields are made by ops inside of it.
      if (op->getNumResults() > 0 && op->getNumRegions() == 0 && isMeant(op))
        op->setAttr(kNumberAttr, builder.getI64IntegerAttr(++last));
    });
  }

private:
  bool isMeant(Operation *op) const {
    return only.empty() || llvm::any_of(op->getResults(), [&](Value result) {
             return isFloatTensor(result) &&
                    typeName(elementType(result)) == only;
           });
  }
};
} // namespace
