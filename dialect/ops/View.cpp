//===- View.cpp - the same elements in another shape ----------------------===//
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

/// The number of elements, without a dynamic batch dimension. It does not
/// overflow: all ops limit it.
static int64_t staticElements(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t dim : type.getShape())
    count *= ShapedType::isDynamic(dim) ? 1 : dim;
  return count;
}

/// Whether rows of so many elements, whose number is not known, can be rows of
/// another length: several make one, or one makes several.
static bool canBeRows(int64_t from, int64_t to) {
  return from == to || (from && to && (from % to == 0 || to % from == 0));
}

LogicalResult ReshapeOp::verify() {
  auto from = getInput().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "changes the element type: "
                         << from.getElementType() << " vs "
                         << to.getElementType();
  auto hasInnerBatch = [](RankedTensorType type) {
    return type.getRank() > 0 &&
           llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic);
  };
  if (hasInnerBatch(from) || hasInnerBatch(to))
    return emitOpError() << "only the leading dimension may be '?': " << from
                         << " vs " << to;
  if (from.hasStaticShape() != to.hasStaticShape())
    return emitOpError() << "loses the batch dimension: " << from << " vs "
                         << to;
  int64_t before = staticElements(from), after = staticElements(to);
  if (before != after && from.hasStaticShape())
    return emitOpError() << "changes the number of elements: " << before
                         << " vs " << after;
  if (!canBeRows(before, after))
    return emitOpError() << "changes the number of elements: rows of " << before
                         << " make no rows of " << after;
  return success();
}

FailureOr<BatchMultiples> ReshapeOp::inferMultiples(MultipleOf multipleOf) {
  auto own = multipleOf(getInput());
  int64_t before = staticElements(getInput().getType()),
          after = staticElements(getType());
  if (!own || before == after)
    return BatchMultiples{own};
  auto multiple = own->inRowsOf(before, after);
  if (!multiple)
    return emitOpError() << "has a result whose '?' is more times the batch "
                            "than a 64-bit number counts";
  return BatchMultiples{multiple};
}

/// The elements of a shape before a dimension, as the number of its `?` and the
/// product of its sizes.
static std::pair<int64_t, int64_t> elementsBefore(ArrayRef<int64_t> shape,
                                                  int64_t dim) {
  int64_t batches = 0, sizes = 1;
  for (int64_t size : shape.take_front(dim))
    (ShapedType::isDynamic(size) ? batches += 1 : sizes *= size);
  return {batches, sizes};
}

/// A dimension stays one if as many elements are before it as were.
std::optional<int64_t> ReshapeOp::followRows(unsigned, int64_t dim) {
  ArrayRef<int64_t> from = getInput().getType().getShape(),
                    to = getType().getShape();
  for (int64_t at = 0, rank = to.size(); at < rank; ++at)
    if (to[at] == from[dim] &&
        elementsBefore(to, at) == elementsBefore(from, dim))
      return at;
  return std::nullopt;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto inner = getInput().getDefiningOp<ReshapeOp>();
  if (inner && (getType().hasStaticShape() ||
                canBeRows(staticElements(inner.getInput().getType()),
                          staticElements(getType())))) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

SmallVector<Value> ReshapeOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  return {ReshapeOp::create(b, getInput().getType().clone(elementType(g[0])),
                            g[0])};
}

std::vector<OpSample> ReshapeOp::sampleInputs() {
  return {{{{"tensor<3x4xf64>"}},
           "mp.reshape %0 : tensor<3x4xf64> to tensor<2x6xf64>"}};
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != type.getRank())
    return emitOptionalError(location, "permutation has ", permutation.size(),
                             " entries for rank ", type.getRank());
  SmallVector<bool> seen(permutation.size());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= type.getRank() || seen[dim])
      return emitOptionalError(location, "not a permutation: dimension ", dim,
                               " is outside of rank ", type.getRank(),
                               " or repeated");
    seen[dim] = true;
    shape.push_back(type.getDimSize(dim));
  }
  if (type.getRank() > 0 && permutation[0] != 0 && type.isDynamicDim(0))
    return emitOptionalError(location,
                             "the batch dimension must stay the leading one");
  types.push_back(type.clone(shape));
  return success();
}

std::optional<int64_t> TransposeOp::followRows(unsigned, int64_t dim) {
  return llvm::find(getPermutation(), dim) - getPermutation().begin();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(),
                  llvm::seq<int64_t>(0, getPermutation().size())))
    return getInput();
  return {};
}

/// Where only dimensions of one change places, no element does.
LogicalResult TransposeOp::canonicalize(TransposeOp op,
                                        PatternRewriter &rewriter) {
  auto from = op.getInput().getType();
  SmallVector<int64_t> longer;
  for (int64_t dim : op.getPermutation())
    if (from.getDimSize(dim) != 1)
      longer.push_back(dim);
  if (!from.hasStaticShape() || !llvm::is_sorted(longer))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

SmallVector<Value> TransposeOp::buildGradients(ImplicitLocOpBuilder &b,
                                               ValueRange g) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = i;
  return {TransposeOp::create(b, g[0], inverse)};
}

std::vector<OpSample> TransposeOp::sampleInputs() {
  return {{{{"tensor<2x3xf64>"}}, "mp.transpose %0 [1, 0] : tensor<2x3xf64>"},
          {{{"tensor<2x3x4xf64>"}},
           "mp.transpose %0 [2, 0, 1] : tensor<2x3x4xf64>"}};
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  auto from = getInput().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "changes the element type: "
                         << from.getElementType() << " vs "
                         << to.getElementType();
  auto shape = broadcastShapes(from.getShape(), to.getShape());
  if (!shape || ArrayRef(*shape) != to.getShape())
    return emitOpError() << "shapes do not broadcast: " << from << " to " << to;
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

SmallVector<Value> BroadcastOp::buildScalars(ImplicitLocOpBuilder &,
                                             ValueRange x) {
  return {x[0]};
}
SmallVector<Value> BroadcastOp::buildGradients(ImplicitLocOpBuilder &,
                                               ValueRange g) {
  return {g[0]};
}

std::vector<OpSample> BroadcastOp::sampleInputs() {
  return {{{{"tensor<3x1xf64>"}},
           "mp.broadcast %0 : tensor<3x1xf64> to tensor<3x4xf64>"},
          {{{"tensor<4xf64>"}},
           "mp.broadcast %0 : tensor<4xf64> to tensor<3x4xf64>"}};
}
