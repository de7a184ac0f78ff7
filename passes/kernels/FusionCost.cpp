//===- FusionCost.cpp - whether to store a value or compute it again ------===//
//
// A value with k users costs k times the reading of its leaves if each computes
// it again. Stored, its leaves are read and it is written once, and it is read
// k times. Without this a chain through a whole network (its residual sum)
// would be computed from the beginning in every kernel.
//
//===----------------------------------------------------------------------===//
#include "passes/kernels/FusionCost.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

/// Ops that a kernel may repeat for the sake of one value.
static constexpr unsigned kMostOps = 16;
/// A cone with more leaves is stored at any number of users from two on.
static constexpr unsigned kMostLeaves = 8;

static int64_t bytesOf(Value value) {
  auto type = tensorType(value);
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// A launch is worth it from as many elements on, and as many for each number.
static constexpr int64_t kManyElements = 1 << 14, kManyUses = 32;

/// Whether a user of the value, through other shapes of it, runs over many more
/// elements, of whose rows the value has several numbers.
static bool isSpread(Value value) {
  int64_t own = tensorType(value).getNumElements();
  bool isOfRows = tensorType(value).getShape().back() == 1;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return tensorType(reshape).getRank() && isSpread(reshape);
    bool reduces = isa<ReductionOpInterface>(user);
    if (isOfRows || (!reduces && !isa<ScalarOpInterface>(user)))
      return false;
    int64_t all = 0;
    for (Value operand : user->getOperands())
      all = std::max(all, tensorType(operand).getNumElements());
    return all >= kManyElements && all >= kManyUses * own;
  });
}

bool FusionCost::isWorthComputingOnce(Operation *op) {
  auto scalar = dyn_cast<ScalarOpInterface>(op);
  Value value = op->getResult(0);
  if (!scalar || op->getNumResults() != 1 || !tensorType(value).getRank() ||
      !isSpread(value))
    return false;
  // One load takes the place of what is as fast.
  return coneOf(op).ops > 1 || isa<DivOp, SqrtOp>(op);
}

const FusionCost::Cone &FusionCost::coneOf(Operation *op) {
  Cone cone;
  // The number of leaves past the maximum does not matter, and along a chain
  // they would be copied again and again.
  auto add = [&](Value leaf) {
    if (cone.leaves.size() <= kMostLeaves)
      cone.leaves.insert(leaf);
  };
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (isa_and_nonnull<ConstantOp>(producer))
      continue;
    auto known = cones.find(producer);
    if (!producer || known == cones.end()) {
      add(operand);
      continue;
    }
    cone.ops = std::min(cone.ops + known->second.ops, kMostOps + 1);
    llvm::for_each(known->second.leaves, add);
  }
  return cones[op] = std::move(cone);
}

bool FusionCost::isWorthStoring(Operation *op) {
  const Cone &cone = coneOf(op);
  DenseSet<Operation *> users(op->user_begin(), op->user_end());
  int64_t count = users.size();
  if (count < 2)
    return false;
  if (cone.ops > kMostOps || cone.leaves.size() > kMostLeaves)
    return true;
  int64_t leaves = 0, own = 0;
  for (Value leaf : cone.leaves)
    leaves += bytesOf(leaf);
  for (Value result : op->getResults())
    own += bytesOf(result);
  return count * leaves > leaves + (count + 1) * own;
}

bool FusionCost::isComputedAtUse(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      !op->hasOneUse() || op->getOperand(0).hasOneUse() ||
      bytesOf(op->getOperand(0)) > bytesOf(op->getResult(0)))
    return false;
  Operation *user = *op->user_begin();
  return isa<ScalarOpInterface>(user) &&
         llvm::any_of(user->getUsers(), [](Operation *next) {
           return !isa<ScalarOpInterface, ReductionOpInterface>(next);
         });
}
