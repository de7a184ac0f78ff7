//===- ReductionRules.cpp - rules that reductions share -------------------===//
#include "dialect/ReductionRules.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

LogicalResult mp::inferReduction(std::optional<Location> location, Value input,
                                 ArrayRef<int64_t> dims, bool keepdim,
                                 SmallVectorImpl<Type> &types) {
  auto type = tensorType(input);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= type.getRank())
      return emitOptionalError(location, "dimension ", dims[i],
                               " is outside of rank ", type.getRank());
    if (i && dims[i] <= dims[i - 1])
      return emitOptionalError(location,
                               "dimensions must ascend: ", dims[i - 1],
                               " before ", dims[i]);
  }
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!llvm::is_contained(dims, i))
      shape.push_back(type.getDimSize(i));
    else if (keepdim)
      shape.push_back(1);
  }
  types.push_back(type.clone(shape));
  return success();
}

LogicalResult mp::inferReductionBackward(std::optional<Location> location,
                                         Value gradient, Value input,
                                         ArrayRef<int64_t> dims, bool keepdim,
                                         SmallVectorImpl<Type> &types) {
  SmallVector<Type> reduced;
  if (failed(inferReduction(location, input, dims, keepdim, reduced)))
    return failure();
  if (gradient.getType() != reduced[0])
    return emitOptionalError(location, "gradient ", gradient.getType(),
                             " is not of the result's type: ", reduced[0]);
  types.push_back(input.getType());
  return success();
}

LogicalResult mp::checkNotEmpty(std::optional<Location> location, Value input,
                                ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    if (tensorType(input).getDimSize(dim) == 0)
      return emitOptionalError(location, "dimension ", dim, " of ",
                               input.getType(), " has no element to choose");
  return success();
}

double mp::reducedCount(Value input, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= tensorType(input).getDimSize(dim);
  return count;
}

Value mp::withReducedDims(ImplicitLocOpBuilder &b, Value value, Value input,
                          ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept(tensorType(input).getShape());
  for (int64_t dim : dims)
    kept[dim] = 1;
  auto type = tensorType(value);
  return type.getShape() == ArrayRef(kept)
             ? value
             : Value(ReshapeOp::create(b, type.clone(kept), value));
}

Value mp::asReduced(ImplicitLocOpBuilder &b, Value value,
                    ArrayRef<int64_t> dims, bool keepdim) {
  if (keepdim || dims.empty())
    return value;
  auto type = tensorType(value);
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dims, i))
      shape.push_back(type.getDimSize(i));
  return ReshapeOp::create(b, type.clone(shape), value);
}

template <typename Op>
static Expression reduce(Expression x, ArrayRef<int64_t> dims) {
  auto &b = x.builder();
  return {b, Op::create(b, Value(x), dims, /*keepdim=*/true)};
}
Expression mp::sumOver(Expression x, ArrayRef<int64_t> dims) {
  return reduce<SumOp>(x, dims);
}
Expression mp::maxOver(Expression x, ArrayRef<int64_t> dims) {
  return reduce<MaxOp>(x, dims);
}
Expression mp::minOver(Expression x, ArrayRef<int64_t> dims) {
  return reduce<MinOp>(x, dims);
}
