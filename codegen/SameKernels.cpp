//===- SameKernels.cpp - kernels that become the same code ----------------===//
#include "codegen/SameKernels.h"
#include "mlir/IR/OperationSupport.h"
#include <unordered_map>

using namespace mlir;
using namespace mp;

static llvm::hash_code hashOf(KernelOp kernel) {
  llvm::hash_code hash(0);
  kernel.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

static bool same(KernelOp a, KernelOp b) {
  return bool(a.getPredicate()) == bool(b.getPredicate()) &&
         a->getOperandTypes() == b->getOperandTypes() &&
         a->getResultTypes() == b->getResultTypes() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

std::vector<size_t> mp::firstOfSame(llvm::ArrayRef<KernelOp> kernels) {
  std::vector<size_t> first(kernels.size());
  std::unordered_map<size_t, llvm::SmallVector<size_t, 1>> byHash;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    auto &candidates = byHash[size_t(hashOf(kernel))];
    auto *found = llvm::find_if(
        candidates, [&](size_t other) { return same(kernels[other], kernel); });
    if (found == candidates.end()) {
      candidates.push_back(i);
      first[i] = i;
    } else {
      first[i] = *found;
    }
  }
  return first;
}
