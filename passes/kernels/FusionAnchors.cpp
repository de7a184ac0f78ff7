//===- FusionAnchors.cpp - fusion into kernels with an anchor -------------===//
//
// Joins to an anchor's kernel the groups that it can compute as it stores its
// result. A group joins as a whole, so that a target whose anchors take in
// nothing has the same kernels as if none had joined.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "passes/kernels/FusionPlan.h"

using namespace mlir;
using namespace mp;

static Operation *anchorOf(const FusionGroup &group) {
  Operation *first = group.items.empty() ? nullptr : group.items.front();
  return isa_and_nonnull<AnchorOpInterface>(first) ? first : nullptr;
}

/// Whether the op is a total, or sums of columns: tiles of a matrix yield these
/// in passing.
static bool isEpilogueReduction(ReductionOpInterface op) {
  int64_t rank = tensorType(op->getOperand(0)).getRank();
  ArrayRef<int64_t> dims = op.getDims();
  int64_t reduced = dims.size();
  return reduced == rank || (reduced == rank - 1 && dims.back() == rank - 2);
}

/// Whether a tensor has an element for each of `shape`, or for each column, or
/// only one.
static bool isKnownAt(ArrayRef<int64_t> shape, Value value) {
  ArrayRef<int64_t> own = tensorType(value).getShape();
  return own == shape || own.empty() ||
         (!shape.empty() && own == shape.take_back());
}

/// Whether elements are computed from others alone, and not from their index,
/// which a tile does not know.
static bool standsAnywhere(Operation *op) {
  auto scalar = dyn_cast<ScalarOpInterface>(op);
  return scalar && !scalar.takesIndex();
}

/// Whether the item and all ops computed on the way to it are defined at
/// elements of `shape`.
bool FusionPlan::standsAt(ArrayRef<int64_t> shape, Operation *item) const {
  if (auto reduction = dyn_cast<ReductionOpInterface>(item)) {
    if (!isEpilogueReduction(reduction) ||
        tensorType(item->getOperand(0)).getShape() != shape)
      return false;
  } else if (!standsAnywhere(item) ||
             tensorType(item->getResult(0)).getShape() != shape) {
    return false;
  }
  SmallVector<Value> work(item->getOperands());
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *producer = value.getDefiningOp();
    if (isa_and_nonnull<ConstantOp>(producer) &&
        isInlined(value, groupOf.lookup(item)))
      continue;
    if (!isKnownAt(shape, value))
      return false;
    if (!isInlined(value, groupOf.lookup(item)))
      continue;
    if (!standsAnywhere(producer))
      return false;
    llvm::append_range(work, producer->getOperands());
  }
  return true;
}

/// Returns the groups that a group reads from, without itself.
SetVector<unsigned> FusionPlan::sourcesOf(unsigned group) const {
  SetVector<unsigned> sources;
  for (Value input : all[group].inputs)
    if (Operation *source = sourceOf(input))
      if (unsigned from = groupOf.lookup(source); from != group)
        sources.insert(from);
  return sources;
}

/// Whether a group needs results of `other`, directly or indirectly. No group
/// of a smaller height does.
bool FusionPlan::dependsOn(unsigned group, unsigned other) const {
  SetVector<unsigned> work;
  work.insert(group);
  for (unsigned i = 0; i < work.size(); ++i) {
    if (work[i] == other)
      return true;
    for (unsigned source : sourcesOf(work[i]))
      if (heights[source] >= heights[other])
        work.insert(source);
  }
  return false;
}

/// Sets heights by the order in which groups were made, which is a valid order
/// of execution until groups are joined.
void FusionPlan::measureHeights() {
  heights.resize(all.size());
  users.assign(all.size(), {});
  for (unsigned i = 0; i < all.size(); ++i) {
    heights[i] = i;
    for (unsigned source : sourcesOf(i))
      users[source].push_back(i);
  }
}

/// Moves a group's items to one with an anchor; groups that read from that one
/// become at least as high as those that it reads from.
void FusionPlan::join(unsigned group, unsigned anchored) {
  for (Operation *item : all[group].items)
    groupOf[item] = anchored;
  llvm::append_range(all[anchored].items, all[group].items);
  all[anchored].inputs.insert_range(all[group].inputs);
  all[group] = FusionGroup();
  llvm::append_range(users[anchored], users[group]);
  for (unsigned source : sourcesOf(anchored)) {
    users[source].push_back(anchored);
    heights[anchored] = std::max(heights[anchored], heights[source]);
  }
  SmallVector<unsigned> raised{anchored};
  while (!raised.empty()) {
    unsigned source = raised.pop_back_val();
    for (unsigned user : users[source])
      if (heights[user] < heights[source]) {
        heights[user] = heights[source];
        raised.push_back(user);
      }
  }
}

bool FusionPlan::standsAt(ArrayRef<int64_t> shape,
                          const FusionGroup &group) const {
  return llvm::all_of(group.items, [&](Operation *item) {
    // An optimizer's update is bound by memory, not by the ops before it, and
    // is computed in the variable's place.
    bool isWritten = llvm::any_of(item->getUsers(), llvm::IsaPred<WriteOp>);
    return !isWritten && standsAt(shape, item);
  });
}

/// Whether a group that is defined at an anchor's elements depends on nothing
/// else that runs after the anchor, which would have to wait for it and keep
/// its operands: the gradient of a table of words, for that of its other use.
bool FusionPlan::canJoin(unsigned index, unsigned anchored) const {
  for (Value input : all[index].inputs) {
    Operation *source = sourceOf(input);
    if (!source || groupOf.lookup(source) == index)
      continue;
    if (groupOf.lookup(source) != anchored) {
      if (groupOf.lookup(source) > anchored)
        return false;
    } else if (isa<ReductionOpInterface>(source) ||
               isa<ReshapeOp, RecomputeBarrierOp, SliceOp>(
                   input.getDefiningOp())) {
      return false; // known only when all elements are known
    }
  }
  return true;
}

void FusionPlan::joinAnchors() {
  measureHeights();
  for (unsigned i = 0; i < all.size(); ++i) {
    if (all[i].closed || all[i].predicate || all[i].items.empty())
      continue;
    auto sources = sourcesOf(i).takeVector();
    llvm::sort(sources, std::greater<>());
    // A group may read from many anchors, of few shapes.
    DenseMap<Type, bool> standsAtResult;
    for (unsigned anchored : sources) {
      auto anchor =
          dyn_cast_or_null<AnchorOpInterface>(anchorOf(all[anchored]));
      if (!anchor || !anchor.takesEpilogue())
        continue;
      RankedTensorType result = tensorType(anchor->getResult(0));
      auto [stands, isNew] = standsAtResult.try_emplace(result);
      if (isNew)
        stands->second = standsAt(result.getShape(), all[i]);
      if (!stands->second || !canJoin(i, anchored))
        continue;
      join(i, anchored);
      break;
    }
  }
  sortGroups();
}

/// Sorts groups into a valid order of execution, which keeps the old one where
/// it can, and drops empty ones.
void FusionPlan::sortGroups() {
  SmallVector<unsigned> order;
  DenseSet<unsigned> done;
  auto visit = [&](auto &visit, unsigned group) -> void {
    if (!done.insert(group).second)
      return;
    auto sources = sourcesOf(group).takeVector();
    llvm::sort(sources);
    for (unsigned source : sources)
      visit(visit, source);
    order.push_back(group);
  };
  for (unsigned i = 0; i < all.size(); ++i)
    if (!all[i].items.empty())
      visit(visit, i);
  SmallVector<FusionGroup> sorted;
  for (unsigned group : order) {
    for (Operation *item : all[group].items)
      groupOf[item] = sorted.size();
    sorted.push_back(std::move(all[group]));
  }
  all = std::move(sorted);
}
