//===- KernelShape.cpp - the fewest dimensions a kernel can do with -------===//
#include "passes/kernels/KernelShape.h"
#include "dialect/ops/Constant.h"
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

/// Merges the dimensions [0, split) and [split, rank) of a kernel's largest
/// shape into one each; with split 0, all of them. Returns nothing if a tensor
/// has only part of such a run.
static std::optional<SmallVector<StageShape>>
merge(ArrayRef<StageShape> stages, ArrayRef<int64_t> shape, size_t split) {
  auto runs = split ? SmallVector<ArrayRef<int64_t>>{shape.take_front(split),
                                                     shape.drop_front(split)}
                    : SmallVector<ArrayRef<int64_t>>{shape};
  SmallVector<StageShape> merged;
  for (const StageShape &stage : stages) {
    // The runs that the stage's own dimensions are, in order.
    SmallVector<size_t> begin;
    SmallVector<int64_t> sizes;
    size_t next = 0;
    for (ArrayRef<int64_t> run : runs) {
      if (ArrayRef(stage.sizes).drop_front(next).take_front(run.size()) != run)
        continue;
      begin.push_back(next);
      next += run.size();
      sizes.push_back(llvm::product_of(run));
    }
    if (next != stage.sizes.size())
      return std::nullopt;
    begin.push_back(next);

    bool fits = true;
    auto mapDims = [&](ArrayRef<unsigned> dims) {
      Dims mapped;
      for (size_t i = 0; i < dims.size() && fits;) {
        auto *run = llvm::find(begin, dims[i]);
        if (run == begin.end() || run + 1 == begin.end()) {
          fits = false;
          break;
        }
        for (size_t d = *run; d < run[1] && fits; ++d, ++i)
          fits = i < dims.size() && dims[i] == d;
        mapped.push_back(run - begin.begin());
      }
      return mapped;
    };
    StageShape result{stage.op, sizes, {}, mapDims(stage.result), {}};
    for (const Dims &dims : stage.operands)
      result.operands.push_back(mapDims(dims));
    if (stage.iotaDim) {
      auto dim = mapDims({*stage.iotaDim});
      if (fits)
        result.iotaDim = dim.front();
    }
    if (!fits)
      return std::nullopt;
    merged.push_back(std::move(result));
  }
  return merged;
}

SmallVector<StageShape> mp::shapeStages(Block &kernel) {
  SmallVector<StageShape> stages;
  for (Operation &op : kernel.without_terminator()) {
    if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      stages.push_back(shapeReduction(reduction));
    else if (auto transpose = dyn_cast<TransposeOp>(op))
      stages.push_back(shapeTranspose(transpose));
    else if (isa<ScalarOpInterface, IotaOp, ConstantOp>(op))
      stages.push_back(shapeElementwise(&op));
  }
  SmallVector<int64_t> largest;
  for (const StageShape &stage : stages)
    if (stage.sizes.size() > largest.size())
      largest = stage.sizes;
  for (size_t split = 0; split < largest.size(); ++split)
    if (auto merged = merge(stages, largest, split))
      return *merged;
  return stages;
}
