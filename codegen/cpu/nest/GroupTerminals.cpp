//===- GroupTerminals.cpp - results over all outer indices ----------------===//
//
// Results over all outer indices: a chunk of these makes one partial result.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/nest/GroupNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

/// Returns the place of the chunk's result: the result itself if there is only
/// one chunk.
Value GroupNest::partial(const Stage &stage) {
  Value tensor = stage.op->getResult(0);
  if (isSumsInMemory(stage))
    return f.memory(tensor, {KernelFunction::any, group.columns});
  return f.memory(tensor, {KernelFunction::any});
}

SmallVector<Reduction> GroupNest::totalsOfChunk() {
  SmallVector<Reduction> reductions;
  forEachTotal([&](const Stage &, const Reduction &reduction) {
    reductions.push_back(reduction);
  });
  return reductions;
}

GroupNest::Values GroupNest::startTotals() {
  Values totals;
  forEachTotal([&](const Stage &stage, const Reduction &reduction) {
    totals.push_back(constant(f.b, f.location, reduction.neutral,
                              isVector(stage.domain) ? lanes : 0));
  });
  return totals;
}

void GroupNest::storeTotals(Values totals) {
  size_t i = 0;
  forEachTotal([&](const Stage &stage, const Reduction &reduction) {
    Value total = totals[i++];
    if (isVector(stage.domain))
      total = combineLanes(f.b, reduction.combiner, total);
    linalg::GenericOp op = stage.op;
    if (group.chunks() == 1)
      total =
          combine(f.b, reduction.combiner, value(op.getDpsInits()[0]), total);
    f.store(total, partial(stage), chunkIndex, {});
  });
}

/// Makes rows of sums in memory start as neutral, or as the start value if no
/// later stage adds it.
void GroupNest::clearSums() {
  if (llvm::none_of(group.stages,
                    [&](const Stage &stage) { return isSumsInMemory(stage); }))
    return;
  scopes[1].values.clear();
  scopes[2].values.clear();
  innerRange({}, {}, [&](Values) -> Values {
    for (const Stage &stage : group.stages)
      if (isSumsInMemory(stage)) {
        linalg::GenericOp op = stage.op;
        Value start =
            group.chunks() == 1
                ? value(op.getDpsInits()[0])
                : constant(f.b, f.location, matchReduction(op)->neutral, 0);
        f.store(broadcast(f.b, start, lanes), partial(stage),
                {chunkIndex, inner}, mask);
      }
    return {};
  });
}
