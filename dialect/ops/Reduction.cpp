//===- Reduction.cpp - sums, means, extremes ------------------------------===//
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rule
//===----------------------------------------------------------------------===//

static LogicalResult inferReduction(std::optional<Location> location,
                                    Value input, ArrayRef<int64_t> dims,
                                    bool keepdim,
                                    SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(input.getType());
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

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    return inferReduction(location, adaptor.getInput(), adaptor.getDims(),     \
                          adaptor.getKeepdim(), types);                        \
  }
MP_INFER(SumOp)
MP_INFER(MaxOp)
MP_INFER(MinOp)
MP_INFER(AnyOp)
MP_INFER(MeanOp)
#undef MP_INFER

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

static TypedAttr infinity(Type type, bool negative) {
  return FloatAttr::get(
      type,
      APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), negative));
}
static TypedAttr extreme(Type type, bool isUnsigned, bool largest) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (isUnsigned)
    return IntegerAttr::get(type, largest ? APInt::getMaxValue(width)
                                          : APInt::getMinValue(width));
  return IntegerAttr::get(type, largest ? APInt::getSignedMaxValue(width)
                                        : APInt::getSignedMinValue(width));
}
static bool isUnsigned(Value tensor) {
  return elementType(tensor).isUnsignedInteger();
}

TypedAttr SumOp::getNeutral(Type type) {
  // -0.0 rather than 0.0 is what addition leaves alone.
  if (isa<FloatType>(type))
    return FloatAttr::get(type, -0.0);
  return IntegerAttr::get(type, 0);
}
Value SumOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  if (isa<FloatType>(element.getType()))
    return arith::AddFOp::create(b, accumulator, element);
  return arith::AddIOp::create(b, accumulator, element);
}

TypedAttr MaxOp::getNeutral(Type type) {
  return isa<FloatType>(type) ? infinity(type, true)
                              : extreme(type, isUnsigned(getInput()), false);
}
Value MaxOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  if (isa<FloatType>(element.getType()))
    return arith::MaximumFOp::create(b, accumulator, element);
  if (isUnsigned(getInput()))
    return arith::MaxUIOp::create(b, accumulator, element);
  return arith::MaxSIOp::create(b, accumulator, element);
}

TypedAttr MinOp::getNeutral(Type type) {
  return isa<FloatType>(type) ? infinity(type, false)
                              : extreme(type, isUnsigned(getInput()), true);
}
Value MinOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  if (isa<FloatType>(element.getType()))
    return arith::MinimumFOp::create(b, accumulator, element);
  if (isUnsigned(getInput()))
    return arith::MinUIOp::create(b, accumulator, element);
  return arith::MinSIOp::create(b, accumulator, element);
}

TypedAttr AnyOp::getNeutral(Type type) { return IntegerAttr::get(type, 0); }
Value AnyOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  return arith::OrIOp::create(b, accumulator, element);
}

//===----------------------------------------------------------------------===//
// mean
//===----------------------------------------------------------------------===//

/// Elements that fall into one of the result.
static double reducedCount(Value input, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= tensorType(input).getDimSize(dim);
  return count;
}

SmallVector<Value> MeanOp::decompose(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  Value sum = SumOp::create(b, operands[0], getDims(), getKeepdim());
  Value count = splat(b, RankedTensorType::get({}, elementType(sum)),
                      reducedCount(getInput(), getDims()));
  return {DivOp::create(b, sum, count)};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// A value of the reduction's result brought back to the operand's shape.
static Value spread(ImplicitLocOpBuilder &b, Value value, Value input,
                    ArrayRef<int64_t> dims) {
  auto type = tensorType(input).clone(elementType(value));
  SmallVector<int64_t> kept(type.getShape());
  for (int64_t dim : dims)
    kept[dim] = 1;
  // Broadcasting adds leading dimensions by itself.
  ArrayRef<int64_t> inner =
      ArrayRef(kept).drop_while([](int64_t dim) { return dim == 1; });
  Value column = value;
  if (tensorType(value).getShape() != ArrayRef(kept) &&
      tensorType(value).getShape() != inner)
    column = ReshapeOp::create(b, type.clone(kept), value);
  return BroadcastOp::create(b, type, column);
}

SmallVector<Value> SumOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  return {spread(b, g[0], getInput(), getDims())};
}
SmallVector<Value> MeanOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  Value count = splat(b, RankedTensorType::get({}, elementType(g[0])),
                      reducedCount(getInput(), getDims()));
  return {spread(b, DivOp::create(b, g[0], count), getInput(), getDims())};
}

/// Equal elements share the gradient evenly, as torch.amax does.
template <typename Op>
static SmallVector<Value> gradientOfExtreme(Op op, ImplicitLocOpBuilder &b,
                                            Value g) {
  Value best = spread(b, op.getResult(), op.getInput(), op.getDims());
  Value equal =
      castTo(b, CompareOp::create(b, Comparison::eq, op.getInput(), best),
             elementType(g));
  Value count = SumOp::create(b, equal, op.getDims(), op.getKeepdim());
  Value share =
      spread(b, DivOp::create(b, g, count), op.getInput(), op.getDims());
  return {MulOp::create(b, share, equal)};
}
SmallVector<Value> MaxOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  return gradientOfExtreme(*this, b, g[0]);
}
SmallVector<Value> MinOp::buildGradients(ImplicitLocOpBuilder &b,
                                         ValueRange g) {
  return gradientOfExtreme(*this, b, g[0]);
}

OpFoldResult SumOp::fold(FoldAdaptor) {
  return getDims().empty() ? OpFoldResult(getInput()) : OpFoldResult();
}

static std::vector<OpSample> samples(StringRef op) {
  std::vector<OpSample> all;
  for (const char *dims :
       {"dims[1]", "dims[0]", "dims[0, 1]", "dims[1] keepdim"})
    all.push_back({{{"tensor<3x5xf64>"}},
                   (op + " %0 " + dims + " : tensor<3x5xf64>").str()});
  all.push_back({{{"tensor<2x3x4xf64>"}},
                 (op + " %0 dims[0, 2] : tensor<2x3x4xf64>").str()});
  return all;
}
std::vector<OpSample> SumOp::sampleInputs() { return samples("mp.sum"); }
std::vector<OpSample> MeanOp::sampleInputs() { return samples("mp.mean"); }
std::vector<OpSample> MaxOp::sampleInputs() { return samples("mp.max"); }
std::vector<OpSample> MinOp::sampleInputs() { return samples("mp.min"); }
