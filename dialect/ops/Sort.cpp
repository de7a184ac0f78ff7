//===- Sort.cpp - sorting and the largest elements ------------------------===//
#include "dialect/ops/Sort.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// The type of the first `k` indices along a dimension, or of all.
static FailureOr<RankedTensorType>
inferIndices(std::optional<Location> location, RankedTensorType type,
             int64_t dim, std::optional<int64_t> k) {
  if (dim < 0 || dim >= type.getRank())
    return emitOptionalError(location, "dimension ", dim,
                             " is outside of rank ", type.getRank());
  if (type.isDynamicDim(dim))
    return emitOptionalError(location,
                             "the batch dimension cannot be sorted: ", type);
  int64_t size = type.getDimSize(dim);
  if (!llvm::isInt<32>(size))
    return emitOptionalError(location, "dimension ", dim, " of size ", size,
                             " has more elements than i32 counts");
  if (k && (*k < 0 || *k > size))
    return emitOptionalError(location, "k is ", *k, ", expected 0 to ", size,
                             ", the size of dimension ", dim);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = k.value_or(size);
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32));
}

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = tensorType(adaptor.getInput());
  if (type.getRank() == 0)
    return emitOptionalError(location, type, " has no dimension to sort along");
  auto indices =
      inferIndices(location, type, type.getRank() - 1, adaptor.getK());
  if (failed(indices))
    return failure();
  types.push_back(*indices);
  return success();
}

/// The types of the values and of their indices.
static LogicalResult inferSorted(std::optional<Location> location, Value input,
                                 int64_t dim, std::optional<int64_t> k,
                                 SmallVectorImpl<Type> &types) {
  auto type = tensorType(input);
  auto indices = inferIndices(location, type, dim, k);
  if (failed(indices))
    return failure();
  types.append({indices->clone(type.getElementType()), *indices});
  return success();
}

LogicalResult SortOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferSorted(location, adaptor.getInput(), adaptor.getDim(),
                     std::nullopt, types);
}
LogicalResult TopKOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferSorted(location, adaptor.getInput(), adaptor.getDim(),
                     adaptor.getK(), types);
}

std::optional<int64_t> ArgsortOp::followRows(unsigned, int64_t dim) {
  return dim == getType().getRank() - 1 ? std::nullopt : std::optional(dim);
}

//===----------------------------------------------------------------------===//
// Parts and gradients
//===----------------------------------------------------------------------===//

/// Exchanges a dimension with the last one, which argsort works along.
static Value swapWithLast(ImplicitLocOpBuilder &b, Value x, int64_t dim) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
  if (dim == order.back())
    return x;
  std::swap(order[dim], order.back());
  return TransposeOp::create(b, x, order);
}

/// The operand has its own type here: in the compute type, it would sort in the
/// same order and take more memory.
template <typename Op>
static SmallVector<Value> sorted(ImplicitLocOpBuilder &b, Op op,
                                 bool descending, IntegerAttr k) {
  int64_t dim = op.getDim(), last = op.getInput().getType().getRank() - 1;
  Value rows = swapWithLast(b, op.getInput(), dim);
  Value indices = ArgsortOp::create(b, rows, descending, k);
  Value values = GatherOp::create(b, rows, indices, last, /*batched=*/true);
  return {swapWithLast(b, values, dim), swapWithLast(b, indices, dim)};
}

SmallVector<Value> SortOp::decompose(ImplicitLocOpBuilder &b, ValueRange) {
  return sorted(b, *this, getDescending(), IntegerAttr());
}
SmallVector<Value> TopKOp::decompose(ImplicitLocOpBuilder &b, ValueRange) {
  return sorted(b, *this, !getSmallest(), getKAttr());
}

/// No two values were the same element, so nothing is added up.
template <typename Op>
static Gradients toElements(ImplicitLocOpBuilder &b, Op op, Value g) {
  int64_t dim = op.getDim(), last = op.getInput().getType().getRank() - 1;
  Value gradient = ScatterAddOp::create(
      b, swapWithLast(b, g, dim), swapWithLast(b, op.getIndices(), dim),
      Value(), last,
      b.getI64IntegerAttr(op.getInput().getType().getDimSize(dim)),
      /*batched=*/true);
  return {swapWithLast(b, gradient, dim)};
}

Gradients SortOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return toElements(b, *this, g[0]);
}
Gradients TopKOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return toElements(b, *this, g[0]);
}

std::vector<OpSample> SortOp::sampleInputs() {
  return {{{{"tensor<3x5xf64>"}}, "mp.sort %0 dim(1) : tensor<3x5xf64>"},
          {{{"tensor<4x2x3xf64>"}},
           "mp.sort %0 dim(0) descending : tensor<4x2x3xf64>"},
          {{{"tensor<6xf64>"}}, "mp.sort %0 dim(0) : tensor<6xf64>"}};
}
std::vector<OpSample> TopKOp::sampleInputs() {
  return {{{{"tensor<3x7xf64>"}}, "mp.top_k %0 k(3) dim(1) : tensor<3x7xf64>"},
          {{{"tensor<2x5x3xf64>"}},
           "mp.top_k %0 k(2) dim(1) smallest : tensor<2x5x3xf64>"}};
}
