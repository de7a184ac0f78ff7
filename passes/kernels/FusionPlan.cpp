//===- FusionPlan.cpp - which ops make a kernel ---------------------------===//
#include "passes/kernels/FusionPlan.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "passes/kernels/Decompose.h"
#include "passes/kernels/FusionCost.h"
#include "passes/kernels/FusionSchedule.h"
#include "passes/kernels/KernelShape.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

static bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && splatValue(constant.getValue());
}
static bool isUnitReshape(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  return reshape && mp::isUnitReshape(reshape);
}

bool mp::isElementwise(Operation *op) {
  return isa<ScalarOpInterface, IotaOp>(op) || isSplatConstant(op) ||
         ::isUnitReshape(op);
}
static bool isReduction(Operation *op) { return isa<ReductionOpInterface>(op); }
static bool isAnchor(Operation *op) { return isa<AnchorOpInterface>(op); }
/// Whether the op stands between kernels as a part of its operand: all that
/// read it can read it in place.
static bool isReadInPlace(Operation *op) {
  return isa_and_nonnull<SliceOp>(op) && isReadByLoops(op->getResult(0));
}
/// Whether a kernel computes the op at all, rather than it standing between
/// kernels.
static bool isComputed(Operation *op) {
  return isElementwise(op) || isReduction(op) || isa<TransposeOp>(op) ||
         (isAnchor(op) && !isReadInPlace(op));
}
static bool isScalar(Value value) { return tensorType(value).getRank() == 0; }

static SmallVector<int64_t> squeezed(Value value) {
  return llvm::to_vector(llvm::make_filter_range(
      tensorType(value).getShape(), [](int64_t dim) { return dim != 1; }));
}
/// Returns the sizes that an item runs over.
static SmallVector<int64_t> domainOf(Operation *op) {
  return squeezed(isReduction(op) ? op->getOperand(0) : op->getResult(0));
}

/// Whether a reduction keeps leading dimensions: its result is known row by
/// row, and may be used further in the same kernel.
static bool keepsRows(Operation *op) {
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  if (!reduction)
    return true;
  auto type = tensorType(op->getOperand(0));
  int64_t kept = 0;
  while (kept < type.getRank() &&
         !llvm::is_contained(reduction.getDims(), kept))
    ++kept;
  bool trailing =
      static_cast<int64_t>(reduction.getDims().size()) == type.getRank() - kept;
  bool rows = llvm::any_of(type.getShape().take_front(kept),
                           [](int64_t dim) { return dim != 1; });
  return trailing && rows;
}

/// Returns how many of its leading dimensions a reduction treats unlike the
/// rest: it takes the rows of a matrix together, or the columns. Nothing if it
/// makes a total, or its dimensions are not those of a matrix.
static std::optional<unsigned> rowDimsOf(Operation *op) {
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  if (!reduction)
    return std::nullopt;
  SmallVector<bool> isReduced;
  for (auto [dim, size] :
       llvm::enumerate(tensorType(op->getOperand(0)).getShape()))
    if (size != 1)
      isReduced.push_back(
          llvm::is_contained(reduction.getDims(), static_cast<int64_t>(dim)));
  auto rest = ArrayRef(isReduced).drop_while(
      [&](bool reduced) { return reduced == isReduced.front(); });
  if (rest.empty() || !llvm::all_equal(rest))
    return std::nullopt;
  return isReduced.size() - rest.size();
}

/// A result of more bytes is better computed where it is used.
static bool growsElements(Operation *op) {
  auto width = [](Value value) {
    return elementType(value).getIntOrFloatBitWidth();
  };
  return width(op->getResult(0)) > width(op->getOperand(0));
}

SmallVector<Operation *> mp::epilogueOf(Operation *anchor) {
  SmallVector<Operation *> chain;
  if (!cast<AnchorOpInterface>(anchor).takesEpilogue())
    return chain;
  for (Operation *op = anchor; op->getResult(0).hasOneUse();) {
    Operation *user = *op->getResult(0).user_begin();
    auto scalar = dyn_cast<ScalarOpInterface>(user);
    if (!scalar || scalar.takesIndex() || user->getNumOperands() != 1 ||
        user->getNumResults() != 1 ||
        tensorType(user->getResult(0)).getShape() !=
            tensorType(op->getResult(0)).getShape() ||
        growsElements(user))
      break;
    chain.push_back(user);
    op = user;
  }
  return chain;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

FusionPlan::FusionPlan(func::FuncOp function, Sinces given)
    : function(function), sinces(std::move(given)) {
  findItems();
  for (Operation *op : schedule())
    place(op);
  joinAnchors();
}

/// Returns the flag without which a use does not read the value: that of a
/// write or a selection, or the left operand of an `and`.
static Value flagOf(OpOperand &use) {
  Operation *user = use.getOwner();
  Value flag;
  if (auto write = dyn_cast<WriteOp>(user); write && !use.getOperandNumber())
    flag = write.getPredicate();
  if (isa<AndOp, SelectOp>(user) && use.getOperandNumber() == 1)
    flag = user->getOperand(0);
  return flag && isScalar(flag) ? flag : Value();
}

/// Returns the flag that all uses of the op's results are under. Uses that
/// compute an elementwise op again do not count.
Value FusionPlan::predicateOf(Operation *op) const {
  Value predicate;
  for (OpOperand &use : op->getUses()) {
    Operation *user = use.getOwner();
    if (isElementwise(op) && (isElementwise(user) || isReduction(user)))
      continue;
    Value flag = flagOf(use);
    if (!flag || (predicate && predicate != flag))
      return {};
    predicate = flag;
  }
  return predicate;
}

void FusionPlan::findItems() {
  FusionCost cost;
  for (Operation &op : function.getBody().front()) {
    if (!isComputed(&op) || isSplatConstant(&op))
      continue;
    auto scalar = dyn_cast<ScalarOpInterface>(&op);
    bool usedOutside = llvm::any_of(op.getUsers(), [](Operation *user) {
      return !isElementwise(user) && !isReduction(user);
    });
    bool isSingleNumber =
        llvm::all_of(op.getResults(), isScalar) && !::isUnitReshape(&op);
    bool once =
        !isElementwise(&op) || isSingleNumber ||
        (scalar && scalar.isExpensive() && !FusionCost::isComputedAtUse(&op));
    // A kernel that replaces rows in place needs the flag itself.
    if (isReduction(&op) || isa<ScatterRowsOp>(op))
      items[&op] = predicateOf(&op);
    else if (once)
      items[&op] = Value();
    else if (cost.isWorthStoring(&op) || cost.isWorthComputingOnce(&op) ||
             usedOutside)
      items[&op] = predicateOf(&op);
    // A value that is written only under a flag is computed again elsewhere.
    if (auto item = items.find(&op); item != items.end() && !item->second)
      cost.store(&op);
  }
  // A constant that leaves the function or feeds an anchor has to be stored
  // too.
  for (Operation &op : function.getBody().front())
    if (isSplatConstant(&op) &&
        llvm::any_of(op.getUsers(), [](Operation *user) {
          return !isElementwise(user) && !isReduction(user);
        }))
      items[&op] = Value();
  // An op that an anchor takes in is not an item of its own.
  for (auto &[op, predicate] : llvm::to_vector(items))
    if (isAnchor(op))
      for (Operation *next : epilogueOf(op)) {
        items.erase(next);
        taken[next] = op;
      }
}

bool FusionPlan::isInlined(Value value, unsigned group) const {
  Operation *op = value.getDefiningOp();
  if (!op || !isComputed(op) || taken.contains(op))
    return false;
  auto item = items.find(op);
  if (item == items.end())
    return isElementwise(op);
  // A value that is written only under a flag does not exist for others.
  return isElementwise(op) && item->second && groupOf.lookup(op) != group;
}

/// Whether the op stands between kernels as another name of its operand.
static bool isAlias(Operation *op) {
  return isa_and_nonnull<RecomputeBarrierOp>(op) || isReadInPlace(op) ||
         (isa_and_nonnull<ReshapeOp>(op) && !::isUnitReshape(op));
}

/// Returns the tensor in whose memory a value is.
static Value memoryOf(Value value) {
  while (isReadInPlace(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Returns the values that an item reads, looking through ops computed on the
/// way, and those that barriers among them make it wait for.
FusionPlan::Dependencies FusionPlan::dependenciesOf(Operation *op) const {
  Dependencies dependencies;
  DenseSet<Value> seen;
  SmallVector<Value> work(op->getOperands());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *producer = value.getDefiningOp();
    bool through = producer && isElementwise(producer) &&
                   !taken.contains(producer) &&
                   (!isItem(producer) || items.lookup(producer));
    if (through) {
      llvm::append_range(work, producer->getOperands());
      continue;
    }
    dependencies.inputs.insert(value);
    for (; isAlias(producer);
         producer = producer->getOperand(0).getDefiningOp())
      if (Value since = sinces.lookup(producer))
        work.push_back(since);
  }
  if (Value predicate = items.lookup(op))
    dependencies.inputs.insert(predicate);
  return dependencies;
}

/// Returns the item that a value comes from, through its other names and
/// epilogues; null for arguments and reads.
Operation *FusionPlan::sourceOf(Value value) const {
  Operation *op = value.getDefiningOp();
  while (isAlias(op))
    op = op->getOperand(0).getDefiningOp();
  if (Operation *anchor = taken.lookup(op))
    op = anchor;
  return op && isItem(op) ? op : nullptr;
}

SmallVector<Operation *> FusionPlan::schedule() {
  SmallVector<ItemToSchedule> sorted;
  DenseMap<Operation *, unsigned> numbers;
  for (Operation &op : function.getBody().front())
    if (isItem(&op)) {
      numbers[&op] = sorted.size();
      bool isNumber = isElementwise(&op) && isScalar(op.getResult(0));
      sorted.push_back({&op, {}, isNumber});
    }
  for (ItemToSchedule &item : sorted) {
    SetVector<unsigned> sources;
    for (Value input : dependenciesOf(item.op).inputs)
      if (Operation *source = sourceOf(input); source && source != item.op)
        sources.insert(numbers.lookup(source));
    item.sources.assign(sources.begin(), sources.end());
  }
  return scheduleItems(sorted);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static bool isPrefix(ArrayRef<int64_t> prefix, ArrayRef<int64_t> shape) {
  return !prefix.empty() && prefix.size() < shape.size() &&
         shape.take_front(prefix.size()) == prefix;
}

bool FusionPlan::accepts(unsigned index, Operation *op,
                         const Dependencies &dependencies) const {
  const FusionGroup &group = all[index];
  if (group.closed || isAnchor(op) || isa<TransposeOp>(op) ||
      group.predicate != items.lookup(op))
    return false;
  bool sharesInput = false, continues = false;
  for (Value input : dependencies.inputs) {
    sharesInput |= group.memory.contains(memoryOf(input)) && !isScalar(input);
    Operation *source = sourceOf(input);
    if (!source)
      continue;
    unsigned from = groupOf.lookup(source);
    if (from > index)
      return false;
    if (from != index)
      continue;
    // Inside a kernel only elements and rows are known; a total is not.
    if (!keepsRows(source) || input.getDefiningOp() != source ||
        isScalar(source->getResult(0)) != isScalar(op->getResult(0)))
      if (!(keepsRows(source) && input.getDefiningOp() == source &&
            isReduction(op)))
        return false;
    continues = true;
  }
  auto domain = domainOf(op);
  // Nor can loops be over two matrices: such a kernel would be computed op by
  // op.
  if (auto rows = rowDimsOf(op); rows && group.rowDims.value_or(*rows) != *rows)
    return false;
  if (domain == group.domain)
    return continues || sharesInput || domain.empty();
  // A kernel has rows and columns: values of its rows can only be reduced to a
  // total.
  if (isReduction(op) && !squeezed(op->getResult(0)).empty())
    return false;
  return continues && isPrefix(domain, group.domain);
}

/// Returns the groups that an item might join, the last first: those that it
/// reads from, or that read the same tensor.
SmallVector<unsigned>
FusionPlan::candidatesFor(Operation *op,
                          const Dependencies &dependencies) const {
  SmallVector<unsigned> found;
  unsigned first = 0; // its sources must have run
  for (Value input : dependencies.inputs) {
    if (Operation *source = sourceOf(input)) {
      first = std::max(first, groupOf.lookup(source));
      found.push_back(groupOf.lookup(source));
    }
    if (auto readers = readersOf.find(memoryOf(input));
        readers != readersOf.end())
      llvm::append_range(found, readers->second);
  }
  if (domainOf(op).empty())
    llvm::append_range(found, numberGroups);
  llvm::erase_if(found, [&](unsigned group) { return group < first; });
  llvm::sort(found, std::greater<>());
  found.erase(llvm::unique(found), found.end());
  return found;
}

void FusionPlan::place(Operation *op) {
  Dependencies dependencies = dependenciesOf(op);
  unsigned index = all.size();
  for (unsigned candidate : candidatesFor(op, dependencies))
    if (accepts(candidate, op, dependencies)) {
      index = candidate;
      break;
    }
  if (index == all.size()) {
    FusionGroup &group = all.emplace_back();
    group.domain = domainOf(op);
    group.predicate = items.lookup(op);
    group.closed = isAnchor(op) || isa<TransposeOp>(op);
    if (group.domain.empty())
      numberGroups.push_back(index);
  }
  all[index].items.push_back(op);
  if (auto rows = rowDimsOf(op))
    all[index].rowDims = rows;
  for (Value input : dependencies.inputs) {
    all[index].inputs.insert(input);
    Value memory = memoryOf(input);
    if (all[index].memory.insert(memory).second && !isScalar(input) &&
        !all[index].closed)
      readersOf[memory].push_back(index);
  }
  groupOf[op] = index;
}
