//===- RandomStreams.cpp - streams of ops that are copied -----------------===//
#include "passes/analysis/RandomStreams.h"

using namespace mlir;
using namespace mp;

RandomStreams::RandomStreams(ModuleOp module) { collect(module, taken); }

void RandomStreams::enter(func::FuncOp function) {
  own.clear();
  collect(function, own);
}

void RandomStreams::separate(ArrayRef<Operation *> copy) {
  DenseMap<uint64_t, uint64_t> renamed;
  for (Operation *root : copy)
    root->walk([&](RandomOpInterface op) {
      if (!op.getStream())
        return;
      auto [known, isNew] = renamed.try_emplace(*op.getStream());
      if (isNew)
        known->second = own.contains(known->first) ? fresh() : known->first;
      op.setStream(known->second);
    });
  for (auto [before, now] : renamed)
    own.insert(now);
}

void RandomStreams::collect(Operation *root, DenseSet<uint64_t> &streams) {
  root->walk([&](RandomOpInterface op) {
    if (op.getStream())
      streams.insert(*op.getStream());
  });
}

uint64_t RandomStreams::fresh() {
  while (!taken.insert(next).second)
    ++next;
  return next;
}
