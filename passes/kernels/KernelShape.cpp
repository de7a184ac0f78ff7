//===- KernelShape.cpp - the fewest dimensions a kernel can do with -------===//
#include "passes/kernels/KernelShape.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

using Dims = SmallVector<unsigned>;

//===----------------------------------------------------------------------===//
// One stage, without dimensions of size one
//===----------------------------------------------------------------------===//

namespace {
/// Numbers the dimensions of a shape that are not one.
struct Squeezed {
  explicit Squeezed(ArrayRef<int64_t> shape) {
    for (int64_t size : shape) {
      index.push_back(size == 1 ? -1 : static_cast<int>(sizes.size()));
      if (size != 1)
        sizes.push_back(size);
    }
  }
  SmallVector<int> index; ///< -1 for size one
  SmallVector<int64_t> sizes;
};
} // namespace

static Dims allOf(size_t count) {
  return llvm::to_vector(llvm::seq<unsigned>(0, count));
}

static StageShape shapeReduction(ReductionOpInterface op) {
  Squeezed over(tensorType(op->getOperand(0)).getShape());
  StageShape stage{op, over.sizes, {allOf(over.sizes.size())}, {}, {}};
  for (auto [dim, index] : llvm::enumerate(over.index))
    if (index >= 0 &&
        !llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      stage.result.push_back(index);
  return stage;
}

static StageShape shapeTranspose(TransposeOp op) {
  Squeezed over(op.getType().getShape());
  Dims operand;
  auto permutation = op.getPermutation();
  for (int64_t dim = 0; dim < static_cast<int64_t>(permutation.size()); ++dim) {
    int index = over.index[llvm::find(permutation, dim) - permutation.begin()];
    if (index >= 0)
      operand.push_back(index);
  }
  return {op, over.sizes, {operand}, allOf(over.sizes.size()), {}};
}

/// Operands are aligned with the result at the end, as in NumPy.
static StageShape shapeElementwise(Operation *op) {
  auto type = tensorType(op->getResult(0));
  Squeezed over(type.getShape());
  StageShape stage{op, over.sizes, {}, allOf(over.sizes.size()), {}};
  for (Value operand : op->getOperands()) {
    auto from = tensorType(operand);
    Dims dims;
    for (int64_t i = 0; i < from.getRank(); ++i)
      if (from.getDimSize(i) != 1)
        dims.push_back(over.index[type.getRank() - from.getRank() + i]);
    stage.operands.push_back(dims);
  }
  if (auto iota = dyn_cast<IotaOp>(op); iota && over.index[iota.getDim()] >= 0)
    stage.iotaDim = over.index[iota.getDim()];
  return stage;
}

StageShape mp::shapeAsIs(Operation *op) {
  if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    ArrayRef<int64_t> sizes = tensorType(op->getOperand(0)).getShape();
    StageShape stage{op, llvm::to_vector(sizes), {allOf(sizes.size())}, {}, {}};
    for (unsigned dim : allOf(sizes.size()))
      if (!llvm::is_contained(reduction.getDims(), static_cast<int64_t>(dim)))
        stage.result.push_back(dim);
    return stage;
  }
  ArrayRef<int64_t> sizes = tensorType(op->getResult(0)).getShape();
  StageShape stage{op, llvm::to_vector(sizes), {}, allOf(sizes.size()), {}};
  for (Value operand : op->getOperands())
    stage.operands.push_back(llvm::to_vector(
        ArrayRef(stage.result).take_back(tensorType(operand).getRank())));
  return stage;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {
/// Merges the dimensions [0, split) and [split, rank) of a kernel's largest
/// shape into one each; with split 0, all of them.
class Merging {
public:
  Merging(ArrayRef<int64_t> shape, size_t split, bool mayRepeat)
      : shape(shape), split(split), mayRepeat(mayRepeat) {
    if (split)
      runs.push_back(shape.take_front(split));
    runs.push_back(shape.drop_front(split));
  }

  /// Returns nothing if a tensor has only part of a run and may not repeat.
  std::optional<StageShape> merge(const StageShape &stage) const;

private:
  /// The runs that a stage's own dimensions are, in order, by the first
  /// dimension of each; then the number of dimensions.
  std::optional<SmallVector<size_t>> runsOf(const StageShape &stage) const;
  /// The runs that some of a stage's dimensions are.
  std::optional<Dims> runsOf(ArrayRef<unsigned> dims,
                             ArrayRef<size_t> begin) const;
  std::optional<RepeatedRow> repeat(ArrayRef<unsigned> outer,
                                    MLIRContext *context) const;
  /// Adds the merged dimensions of an operand.
  bool mergeOperand(const StageShape &stage, unsigned number,
                    ArrayRef<size_t> begin, StageShape &merged) const;

  ArrayRef<int64_t> shape;
  size_t split;
  bool mayRepeat;
  SmallVector<ArrayRef<int64_t>> runs;
};
} // namespace

std::optional<SmallVector<size_t>>
Merging::runsOf(const StageShape &stage) const {
  SmallVector<size_t> begin;
  size_t next = 0;
  for (ArrayRef<int64_t> run : runs) {
    if (ArrayRef(stage.sizes).drop_front(next).take_front(run.size()) != run)
      continue;
    begin.push_back(next);
    next += run.size();
  }
  begin.push_back(next);
  if (next != stage.sizes.size())
    return std::nullopt;
  return begin;
}

std::optional<Dims> Merging::runsOf(ArrayRef<unsigned> dims,
                                    ArrayRef<size_t> begin) const {
  Dims mapped;
  for (size_t i = 0; i < dims.size();) {
    auto *run = llvm::find(begin, dims[i]);
    if (run == begin.end() || run + 1 == begin.end())
      return std::nullopt;
    for (size_t d = *run; d < run[1]; ++d, ++i)
      if (i >= dims.size() || dims[i] != d)
        return std::nullopt;
    mapped.push_back(run - begin.begin());
  }
  return mapped;
}

/// The row of a tensor that has only the dimensions `outer` of a row's.
std::optional<RepeatedRow> Merging::repeat(ArrayRef<unsigned> outer,
                                           MLIRContext *context) const {
  if (!mayRepeat || outer.empty() || !llvm::is_sorted(outer))
    return std::nullopt;
  AffineExpr loop = getAffineDimExpr(0, context);
  RepeatedRow repeated{getAffineConstantExpr(0, context), 1};
  // Neighbouring dimensions are taken out of the index together.
  for (size_t end = outer.size(); end > 0;) {
    size_t first = end - 1;
    while (first > 0 && outer[first - 1] + 1 == outer[first])
      --first;
    int64_t size = 1, below = 1;
    for (size_t i = first; i < end; ++i)
      size *= shape[outer[i]];
    for (size_t d = outer[end - 1] + 1; d < split; ++d)
      below *= shape[d];
    AffineExpr part = loop.floorDiv(below);
    if (outer[first] != 0)
      part = part % size;
    repeated.row = part * repeated.count + repeated.row;
    repeated.count *= size;
    end = first;
  }
  return repeated;
}

bool Merging::mergeOperand(const StageShape &stage, unsigned number,
                           ArrayRef<size_t> begin, StageShape &merged) const {
  ArrayRef<unsigned> dims = stage.operands[number];
  if (std::optional<Dims> whole = runsOf(dims, begin)) {
    merged.operands.push_back(std::move(*whole));
    return true;
  }
  if (ArrayRef(stage.sizes) != shape ||
      !isa<BlockArgument>(stage.op->getOperand(number)))
    return false;
  auto outer = dims.take_while([&](unsigned dim) { return dim < split; });
  std::optional<RepeatedRow> row = repeat(outer, stage.op->getContext());
  std::optional<Dims> columns = runsOf(dims.drop_front(outer.size()), begin);
  if (!row || !columns)
    return false;
  columns->insert(columns->begin(), 0);
  merged.operands.push_back(std::move(*columns));
  merged.repeated.try_emplace(number, *row);
  return true;
}

std::optional<StageShape> Merging::merge(const StageShape &stage) const {
  auto begin = runsOf(stage);
  if (!begin)
    return std::nullopt;
  StageShape merged{stage.op, {}, {}, {}, {}};
  for (size_t i = 0; i + 1 < begin->size(); ++i) {
    auto run = ArrayRef(stage.sizes).slice((*begin)[i]);
    merged.sizes.push_back(
        llvm::product_of(run.take_front((*begin)[i + 1] - (*begin)[i])));
  }
  for (unsigned number = 0; number < stage.operands.size(); ++number)
    if (!mergeOperand(stage, number, *begin, merged))
      return std::nullopt;
  std::optional<Dims> result = runsOf(stage.result, *begin);
  if (!result)
    return std::nullopt;
  merged.result = std::move(*result);
  if (stage.iotaDim) {
    std::optional<Dims> dim = runsOf({*stage.iotaDim}, *begin);
    if (!dim)
      return std::nullopt;
    merged.iotaDim = dim->front();
  }
  return merged;
}

static std::optional<SmallVector<StageShape>> merge(ArrayRef<StageShape> stages,
                                                    const Merging &merging) {
  SmallVector<StageShape> merged;
  for (const StageShape &stage : stages) {
    std::optional<StageShape> one = merging.merge(stage);
    if (!one)
      return std::nullopt;
    merged.push_back(std::move(*one));
  }
  return merged;
}

/// Makes an elementwise op on part of the dimensions, as on a mask, run over
/// all of them where it is read, if that is the same in each place.
static void widen(SmallVectorImpl<StageShape> &stages,
                  ArrayRef<int64_t> largest) {
  DenseMap<Operation *, StageShape *> byOp;
  for (StageShape &stage : stages)
    byOp[stage.op] = &stage;
  for (StageShape &stage : llvm::reverse(stages)) {
    if (ArrayRef(stage.sizes) == largest || stage.op->getNumResults() != 1 ||
        !isa<ScalarOpInterface>(stage.op) || stage.sizes.empty() ||
        stage.op->use_empty())
      continue;
    SmallVector<Dims *> places;
    for (OpOperand &use : stage.op->getUses())
      if (StageShape *user = byOp.lookup(use.getOwner());
          user && ArrayRef(user->sizes) == largest)
        places.push_back(&user->operands[use.getOperandNumber()]);
    bool areEqual = llvm::all_of(
        places, [&](Dims *dims) { return *dims == *places.front(); });
    if (!areEqual || !stage.op->getResult(0).hasNUses(places.size()))
      continue;
    Dims place = *places.front();
    for (Dims &dims : stage.operands)
      for (unsigned &dim : dims)
        dim = place[dim];
    stage.sizes = llvm::to_vector(largest);
    stage.result = allOf(largest.size());
    for (Dims *dims : places)
      *dims = stage.result;
  }
}

static SmallVector<StageShape> unmergedStages(Block &kernel) {
  SmallVector<StageShape> stages;
  for (Operation &op : kernel.without_terminator()) {
    if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      stages.push_back(shapeReduction(reduction));
    else if (auto transpose = dyn_cast<TransposeOp>(op))
      stages.push_back(shapeTranspose(transpose));
    else if (isa<ScalarOpInterface, IotaOp, ConstantOp>(op))
      stages.push_back(shapeElementwise(&op));
  }
  return stages;
}

static SmallVector<int64_t> largestOf(ArrayRef<StageShape> stages) {
  SmallVector<int64_t> largest;
  for (const StageShape &stage : stages)
    if (stage.sizes.size() > largest.size())
      largest = stage.sizes;
  return largest;
}

SmallVector<StageShape> mp::shapeStages(Block &kernel) {
  SmallVector<StageShape> stages = unmergedStages(kernel);
  SmallVector<int64_t> largest = largestOf(stages);
  for (size_t split = 0; split < largest.size(); ++split)
    if (auto merged = merge(stages, Merging(largest, split, false)))
      return *merged;
  // Short rows are better off in a nest of all dimensions.
  constexpr int64_t shortRow = 16;
  SmallVector<StageShape> wide = stages;
  widen(wide, largest);
  for (size_t split = 1; split < largest.size(); ++split)
    if (llvm::product_of(ArrayRef(largest).drop_front(split)) >= shortRow)
      if (auto merged = merge(wide, Merging(largest, split, true)))
        return *merged;
  return stages;
}

std::optional<SmallVector<StageShape>> mp::shapeStagesInRows(Block &kernel,
                                                             int64_t rows) {
  SmallVector<StageShape> stages = unmergedStages(kernel);
  if (stages.empty())
    return stages;
  SmallVector<int64_t> largest = largestOf(stages);
  size_t split = 0;
  for (int64_t above = 1; split < largest.size() && above < rows; ++split)
    above *= largest[split];
  auto above = ArrayRef(largest).take_front(split);
  if (split == largest.size() || llvm::product_of(above) != rows)
    return std::nullopt;
  if (auto merged = merge(stages, Merging(largest, split, false)))
    return merged;
  widen(stages, largest);
  return merge(stages, Merging(largest, split, true));
}

std::optional<int64_t> mp::rowsOf(KernelOp kernel) {
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(kernel->getOperandTypes()),
                                llvm::to_vector(kernel->getResultTypes())))
    if (RowsAttr rows = RowsAttr::of(type))
      return rows.getCount();
  return std::nullopt;
}

bool mp::isWholeInRows(Block &kernel, int64_t rows, Value value) {
  auto stages = shapeStagesInRows(kernel, rows);
  if (!stages || tensorType(value).getNumElements() % rows != 0)
    return false;
  DenseMap<Operation *, const StageShape *> byOp;
  for (const StageShape &stage : *stages)
    byOp[stage.op] = &stage;
  auto isWhole = [](ArrayRef<unsigned> dims) {
    return dims == ArrayRef<unsigned>{0, 1};
  };
  auto isReadWhole = [&](auto &self, Value read) -> bool {
    return llvm::all_of(read.getUses(), [&](OpOperand &use) {
      if (isa<ReshapeOp>(use.getOwner()))
        return self(self, use.getOwner()->getResult(0));
      const StageShape *stage = byOp.lookup(use.getOwner());
      unsigned number = use.getOperandNumber();
      return !stage || (isWhole(stage->operands[number]) &&
                        !stage->repeated.contains(number));
    });
  };
  if (isa<BlockArgument>(value))
    return isReadWhole(isReadWhole, value);
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  const StageShape *maker = byOp.lookup(value.getDefiningOp());
  return isa<BlockArgument>(value) || (maker && isWhole(maker->result));
}

bool mp::isReadByLoops(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<ReshapeOp>(user))
      return isReadByLoops(user->getResult(0));
    return isa<ScalarOpInterface, ReductionOpInterface>(user);
  });
}
