//===- BackwardOps.cpp - telling backward ops from forward ones -----------===//
#include "passes/analysis/BackwardOps.h"

using namespace mlir;
using namespace mp;

static constexpr llvm::StringLiteral kBackwardOf = "backward of";

Location mp::backwardOf(Location forward) {
  return FusedLoc::get({forward},
                       StringAttr::get(forward.getContext(), kBackwardOf),
                       forward.getContext());
}

bool mp::isBackward(Location location) {
  return location
      ->walk([](Location inner) {
        auto fused = dyn_cast<FusedLoc>(inner);
        auto mark = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata())
                          : StringAttr();
        return mark && mark.getValue() == kBackwardOf ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

void mp::eraseDead(func::FuncOp function) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
