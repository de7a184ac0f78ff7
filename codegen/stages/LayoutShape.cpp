//===- LayoutShape.cpp - moves of elements, for any target ----------------===//
#include "codegen/stages/LayoutShape.h"
#include "dialect/ops/Layout.h"

using namespace mlir;
using namespace mp;

static SmallVector<int64_t> denseStrides(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * type.getDimSize(dim);
  return strides;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

int64_t BoxCopy::elements() const {
  int64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.size;
  return count;
}

/// Drops dimensions of one element, and merges two if the inner one ends where
/// the outer one's next element begins, in both tensors.
static void simplify(BoxCopy &box) {
  SmallVector<BoxCopy::Dim> merged;
  for (const BoxCopy::Dim &dim : box.dims) {
    if (dim.size == 1)
      continue;
    if (!merged.empty() && merged.back().from == dim.from * dim.size &&
        merged.back().to == dim.to * dim.size)
      merged.back() = {merged.back().size * dim.size, dim.from, dim.to};
    else
      merged.push_back(dim);
  }
  if (merged.empty())
    merged.push_back({1, 1, 1});
  box.dims = std::move(merged);
}

BoxCopy mp::boxOf(SliceOp op) {
  auto from = denseStrides(op.getInput().getType()),
       to = denseStrides(op.getType());
  BoxCopy box;
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape())) {
    box.from += op.getOffsets()[dim] * from[dim];
    box.dims.push_back(
        {size, (size > 1 ? op.strideOf(dim) : 1) * from[dim], to[dim]});
  }
  simplify(box);
  return box;
}

SmallVector<BoxCopy> mp::boxesOf(ConcatOp op) {
  auto to = denseStrides(op.getType());
  SmallVector<BoxCopy> boxes;
  int64_t first = 0;
  for (Value input : op.getInputs()) {
    auto type = tensorType(input);
    auto from = denseStrides(type);
    BoxCopy box;
    box.to = first * to[op.getDim()];
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      box.dims.push_back({size, from[dim], to[dim]});
    simplify(box);
    boxes.push_back(std::move(box));
    first += type.getDimSize(op.getDim());
  }
  return boxes;
}

/// Returns the bits of an element in memory, where a flag is a byte.
static uint64_t bitsOf(TypedAttr element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(element).getValue().getZExtValue();
}

PaddedBox mp::paddedBoxOf(PadOp op) {
  PaddedBox box;
  box.value = bitsOf(op.getElement());
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape())) {
    int64_t count = op.getInput().getType().getDimSize(dim);
    int64_t step = count > 1 ? op.interiorOf(dim) + 1 : 1;
    PaddedBox::Dim next{size, op.getLow()[dim], step, count};
    bool isWhole = next.size == next.count;
    if (size == 1 && isWhole)
      continue;
    // After a dimension without gaps, a whole one makes its elements longer.
    if (!box.dims.empty() && isWhole && box.dims.back().step == 1) {
      PaddedBox::Dim &outer = box.dims.back();
      outer = {outer.size * size, outer.low * size, 1, outer.count * size};
    } else {
      box.dims.push_back(next);
    }
  }
  if (box.dims.empty())
    box.dims.push_back({1, 0, 1, 1});
  return box;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the sizes before and after a dimension.
static std::pair<int64_t, int64_t> aroundDim(RankedTensorType type,
                                             int64_t dim) {
  return {llvm::product_of(type.getShape().take_front(dim)),
          llvm::product_of(type.getShape().drop_front(dim + 1))};
}

/// `longer` is the tensor that has all rows.
template <typename Op>
static NumberedRows rowsOf(Op op, RankedTensorType longer) {
  auto [outer, inner] = aroundDim(longer, op.getDim());
  auto indices = op.getIndices().getType().getShape();
  return {outer, longer.getDimSize(op.getDim()),
          llvm::product_of(indices.drop_front(op.getBatchDims())), inner,
          op.getBatchDims() > 0};
}

NumberedRows mp::rowsOf(GatherOp op) {
  return ::rowsOf(op, op.getTable().getType());
}

NumberedRows mp::rowsOf(ScatterAddOp op) { return ::rowsOf(op, op.getType()); }

NumberedRows mp::rowsOf(ScatterRowsOp op) {
  auto table = op.getTable().getType();
  return {.rows = table.getDimSize(0),
          .count = op.getIndices().getType().getDimSize(0),
          .inner = aroundDim(table, 0).second};
}

RunningSum mp::sumOf(CumsumOp op) {
  auto [outer, inner] = aroundDim(op.getType(), op.getDim());
  return {outer, op.getType().getDimSize(op.getDim()), inner, op.getReverse()};
}
