//===- LayoutFolds.cpp - moves that are none, and moves of moves ----------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mp;

/// A splat constant in another shape; null for other constants.
static Attribute resized(Attribute value, RankedTensorType type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(value);
  return splat && type.hasStaticShape() ? splat.resizeSplat(type) : Attribute();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // Only the whole tensor is a slice of the same size.
  if (getInput().getType() == getType())
    return getInput();
  return resized(adaptor.getInput(), getType());
}

/// Folds slice(slice(x)): strides multiply, and the outer offset counts inner
/// strides.
static LogicalResult composeSlices(SliceOp op, SliceOp inner,
                                   PatternRewriter &rewriter) {
  SmallVector<int64_t> offsets, sizes, strides;
  for (auto [dim, taken] : llvm::enumerate(op.getType().getShape())) {
    // Both slices take the whole batch. One element may have any stride, and
    // the product of two strides might overflow, so its stride is 1.
    bool isBatch = ShapedType::isDynamic(taken);
    offsets.push_back(taken == 0
                          ? 0
                          : inner.getOffsets()[dim] +
                                op.getOffsets()[dim] * inner.strideOf(dim));
    sizes.push_back(isBatch ? -1 : taken);
    strides.push_back(
        isBatch || taken <= 1 ? 1 : inner.strideOf(dim) * op.strideOf(dim));
  }
  bool apart = inner.getStrides() || op.getStrides();
  rewriter.replaceOpWithNewOp<SliceOp>(
      op, inner.getInput(), offsets, sizes,
      apart ? rewriter.getDenseI64ArrayAttr(strides) : DenseI64ArrayAttr());
  return success();
}

/// Folds slice(concat(..., x, ...)) if it takes elements of x alone.
static LogicalResult sliceOperand(SliceOp op, ConcatOp concat,
                                  PatternRewriter &rewriter) {
  int64_t dim = concat.getDim(), begin = 0;
  int64_t taken = op.getType().getDimSize(dim), first = op.getOffsets()[dim];
  if (taken < 1) // or the batch, whose size is -1
    return failure();
  int64_t last = first + (taken - 1) * op.strideOf(dim);
  for (Value input : concat.getInputs()) {
    int64_t end = begin + tensorType(input).getDimSize(dim);
    if (first >= begin && last < end) {
      SmallVector<int64_t> offsets(op.getOffsets());
      SmallVector<int64_t> sizes(op.getSizes());
      offsets[dim] -= begin;
      sizes[dim] = taken;
      rewriter.replaceOpWithNewOp<SliceOp>(op, input, offsets, sizes,
                                           op.getStridesAttr());
      return success();
    }
    begin = end;
  }
  return failure();
}

/// Folds slice(pad(x)) if it takes no padding and there is none between
/// elements.
static LogicalResult sliceInside(SliceOp op, PadOp pad,
                                 PatternRewriter &rewriter) {
  SmallVector<int64_t> offsets, sizes;
  for (auto [dim, size] :
       llvm::enumerate(pad.getInput().getType().getShape())) {
    int64_t taken = op.getType().getDimSize(dim);
    int64_t first = op.getOffsets()[dim] - pad.getLow()[dim];
    offsets.push_back(first);
    sizes.push_back(ShapedType::isDynamic(taken) ? -1 : taken);
    if (ShapedType::isDynamic(size))
      continue;
    if (taken < 1 || first < 0 || pad.interiorOf(dim) ||
        first + (taken - 1) * op.strideOf(dim) >= size)
      return failure();
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, pad.getInput(), offsets, sizes,
                                       op.getStridesAttr());
  return success();
}

LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  if (auto inner = op.getInput().getDefiningOp<SliceOp>())
    return composeSlices(op, inner, rewriter);
  if (auto concat = op.getInput().getDefiningOp<ConcatOp>())
    return sliceOperand(op, concat, rewriter);
  if (auto pad = op.getInput().getDefiningOp<PadOp>())
    return sliceInside(op, pad, rewriter);
  return failure();
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  // A pad that keeps the size adds no elements.
  if (getInput().getType() == getType())
    return getInput();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput());
  if (splat && splat.getSplatValue<Attribute>() == getElement())
    return resized(splat, getType());
  return {};
}

/// Folds pad(pad(x)) with one value if the outer padding is only outside.
LogicalResult PadOp::canonicalize(PadOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<PadOp>();
  if (!inner || inner.getElement() != op.getElement())
    return failure();
  SmallVector<int64_t> low(inner.getLow()), high(inner.getHigh());
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    if (op.interiorOf(dim))
      return failure();
    low[dim] += op.getLow()[dim];
    high[dim] += op.getHigh()[dim];
  }
  rewriter.replaceOpWithNewOp<PadOp>(op, inner.getInput(), low, high,
                                     inner.getInteriorAttr(), op.getValue());
  return success();
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front())
                                 : OpFoldResult();
}

/// Replaces operands that are concatenations along the same dimension by their
/// operands, and removes empty ones.
LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    if (inner && inner.getDim() == op.getDim())
      llvm::append_range(inputs, inner.getInputs());
    else if (tensorType(input).getDimSize(op.getDim()) != 0)
      inputs.push_back(input);
  }
  if (inputs.empty() || ValueRange(inputs) == ValueRange(op.getInputs()))
    return failure();
  rewriter.replaceOpWithNewOp<ConcatOp>(op, inputs, op.getDim());
  return success();
}

//===----------------------------------------------------------------------===//
// scatter_add
//===----------------------------------------------------------------------===//

/// Removes a base of zeros, which is the default; negative zeros differ.
LogicalResult ScatterAddOp::canonicalize(ScatterAddOp op,
                                         PatternRewriter &rewriter) {
  auto constant =
      op.getBase() ? op.getBase().getDefiningOp<ConstantOp>() : ConstantOp();
  auto value = constant ? splatValue(constant.getValue()) : std::nullopt;
  int64_t rows = op.getType().getDimSize(op.getDim());
  if (!value || *value != 0 || std::signbit(*value) ||
      ShapedType::isDynamic(rows))
    return failure();
  rewriter.replaceOpWithNewOp<ScatterAddOp>(
      op, op.getUpdates(), op.getIndices(), Value(), op.getDim(),
      rewriter.getI64IntegerAttr(rows), op.getBatched());
  return success();
}

//===----------------------------------------------------------------------===//
// cumsum
//===----------------------------------------------------------------------===//

OpFoldResult CumsumOp::fold(FoldAdaptor) {
  int64_t size = getType().getDimSize(getDim());
  return size == 0 || size == 1 ? OpFoldResult(getInput()) : OpFoldResult();
}
