//===- Reduction.cpp - sums, products, extremes ---------------------------===//
#include "dialect/ops/Reduction.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    return inferReduction(location, adaptor.getInput(), adaptor.getDims(),     \
                          adaptor.getKeepdim(), types);                        \
  }
MP_INFER(SumOp)
MP_INFER(ProdOp)
MP_INFER(AnyOp)
MP_INFER(MeanOp)
#undef MP_INFER

/// No element has a sum, but no largest one.
#define MP_INFER_EXTREME(OP)                                                   \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    Value input = adaptor.getInput();                                          \
    if (failed(inferReduction(location, input, adaptor.getDims(),              \
                              adaptor.getKeepdim(), types)))                   \
      return failure();                                                        \
    return checkNotEmpty(location, input, adaptor.getDims());                  \
  }
MP_INFER_EXTREME(MaxOp)
MP_INFER_EXTREME(MinOp)
#undef MP_INFER_EXTREME

LogicalResult ProdBackwardOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  return inferReductionBackward(location, adaptor.getGradient(),
                                adaptor.getInput(), adaptor.getDims(),
                                adaptor.getKeepdim(), types);
}

LogicalResult ArgmaxOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t dim = adaptor.getDim();
  if (failed(inferReduction(location, adaptor.getInput(), dim,
                            adaptor.getKeepdim(), types)) ||
      failed(checkNotEmpty(location, adaptor.getInput(), dim)))
    return failure();
  // Not yet sorted in among the op's attributes when it is parsed.
  TypeAttr dtype = adaptor.getDtypeAttr();
  if (!dtype && adaptor.getAttributes())
    dtype = adaptor.getAttributes().getAs<TypeAttr>("dtype");
  types[0] = cast<RankedTensorType>(types[0]).clone(
      dtype ? dtype.getValue() : IntegerType::get(context, 64));
  return success();
}

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

TypedAttr ProdOp::getNeutral(Type type) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, 1.0);
  return IntegerAttr::get(type, 1);
}
Value ProdOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                            Value element) {
  if (isa<FloatType>(element.getType()))
    return arith::MulFOp::create(b, accumulator, element);
  return arith::MulIOp::create(b, accumulator, element);
}

/// The largest of zeros may have either sign: telling them apart takes as long
/// as all else that a NaN needs.
static constexpr auto anyZero = arith::FastMathFlags::nsz;

TypedAttr MaxOp::getNeutral(Type type) {
  return isa<FloatType>(type) ? infinity(type, true)
                              : extreme(type, isUnsigned(getInput()), false);
}
Value MaxOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  if (isa<FloatType>(element.getType()))
    return arith::MaximumFOp::create(b, accumulator, element, anyZero);
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
    return arith::MinimumFOp::create(b, accumulator, element, anyZero);
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

SmallVector<Value> MeanOp::decompose(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  Value sum = SumOp::create(b, operands[0], getDims(), getKeepdim());
  Value count = splat(b, RankedTensorType::get({}, elementType(sum)),
                      reducedCount(getInput(), getDims()));
  return {DivOp::create(b, sum, count)};
}

//===----------------------------------------------------------------------===//
// prod_backward
//===----------------------------------------------------------------------===//

namespace {
/// What the derivatives of a product are made of. The product of the others is
/// taken without dividing by an element that is zero.
class Factors {
public:
  Factors(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> dims)
      : b(b), dims(dims), type(tensorType(input)) {
    isZero = CompareOp::create(b, Comparison::eq, input, number(0));
    factor = SelectOp::create(b, isZero, number(1), input);
    product = ProdOp::create(b, factor, dims, true);
    zeros = sum(castTo(b, isZero, type.getElementType()));
  }

  Value number(double value) {
    return splat(b, RankedTensorType::get({}, type.getElementType()), value);
  }
  Value sum(Value x) { return SumOp::create(b, x, dims, true); }
  /// The product of what is not zero, in runs with `count` zeros; else 0.
  Value productWith(double count) {
    return SelectOp::create(
        b, CompareOp::create(b, Comparison::eq, zeros, number(count)), product,
        number(0));
  }
  /// Zeros of the operand get one value, the others the other.
  Value choose(Value atZero, Value elsewhere) {
    return SelectOp::create(b, isZero, atZero, elsewhere);
  }

  ImplicitLocOpBuilder &b;
  ArrayRef<int64_t> dims;
  RankedTensorType type;
  Value isZero, factor; ///< the operand with ones for zeros
  Value product, zeros; ///< of each run, with the reduced dimensions kept
};
} // namespace

/// The product of the others: with one zero in the run, it is that of the
/// others for the zero alone; with more, none has any.
SmallVector<Value> ProdBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  Factors f(b, operands[1], getDims());
  Value slope =
      f.choose(f.productWith(1), DivOp::create(b, f.productWith(0), f.factor));
  Value g = withReducedDims(b, operands[0], operands[1], getDims());
  return {MulOp::create(b, g, slope)};
}

/// With u the gradient of the result, sum over i != k of u_i and the product
/// of all but i and k: an element that is zero needs all other zeros to be i.
SmallVector<Value> ProdBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                  ValueRange u) {
  Type compute = computeType(elementType(getInput()));
  Value x = castTo(b, getInput(), compute);
  Value wide = castTo(b, u[0], compute);
  Factors f(b, x, getDims());
  Value share = DivOp::create(b, wide, f.factor);
  Value zero = f.number(0);
  Value nonzeros = f.sum(f.choose(zero, share));
  Value zeros = f.sum(f.choose(wide, zero));
  Value at0 = f.productWith(0), at1 = f.productWith(1), at2 = f.productWith(2);
  auto sumOfProducts = [&](Value x, Value y, Value z, Value w) -> Value {
    Value left = MulOp::create(b, x, y), right = MulOp::create(b, z, w);
    return AddOp::create(b, left, right);
  };
  Value toGradient = sumOfProducts(at0, nonzeros, at1, zeros);
  Value otherShares = SubOp::create(b, nonzeros, share);
  Value elsewhere =
      DivOp::create(b, sumOfProducts(at0, otherShares, at1, zeros), f.factor);
  Value atZero =
      sumOfProducts(at1, nonzeros, at2, SubOp::create(b, zeros, wide));
  Value slope = f.choose(atZero, elsewhere);
  Value g = castTo(b, getGradient(), compute);
  Value column = withReducedDims(b, g, getInput(), getDims());
  return {asReduced(b, toGradient, getDims(), getKeepdim()),
          MulOp::create(b, column, slope)};
}

//===----------------------------------------------------------------------===//
// argmax
//===----------------------------------------------------------------------===//

SmallVector<Value> ArgmaxOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  Value x = operands[0];
  auto type = tensorType(x);
  int64_t dim = getDim();
  ArrayRef<int64_t> dims(dim);
  Value largest = MaxOp::create(b, x, dims, true);
  Value isLargest = CompareOp::create(b, Comparison::eq, x, largest);
  // NaN makes the largest element NaN, which equals nothing.
  if (isa<FloatType>(type.getElementType()))
    isLargest =
        OrOp::create(b, isLargest, CompareOp::create(b, Comparison::ne, x, x));
  Type i32 = b.getI32Type();
  Value index = IotaOp::create(b, type.clone(i32), dim);
  Value none = splat(b, RankedTensorType::get({}, i32), INT32_MAX);
  Value first = MinOp::create(b, SelectOp::create(b, isLargest, index, none),
                              dims, getKeepdim());
  return {castTo(b, first, elementType(getResult()))};
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
  Value column = tensorType(value).getShape() == inner
                     ? value
                     : withReducedDims(b, value, input, dims);
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

SmallVector<Value> ProdOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  return {ProdBackwardOp::create(b, g[0], getInput(), getDims(), getKeepdim())};
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
OpFoldResult ProdOp::fold(FoldAdaptor) {
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
std::vector<OpSample> ProdOp::sampleInputs() { return samples("mp.prod"); }
std::vector<OpSample> ProdBackwardOp::sampleInputs() {
  return {{{{"tensor<3xf64>"}, {"tensor<3x5xf64>", -2, 2, 0.3}},
           "mp.prod_backward %0, %1 dims[1] : tensor<3xf64>, tensor<3x5xf64>"},
          {{{"tensor<1x1xf64>", 1, 2}, {"tensor<2x1xf64>", -2, 2, 0.3}},
           "mp.prod_backward %0, %1 dims[0, 1] keepdim : tensor<1x1xf64>, "
           "tensor<2x1xf64>"}};
}
std::vector<OpSample> MeanOp::sampleInputs() { return samples("mp.mean"); }
std::vector<OpSample> MaxOp::sampleInputs() { return samples("mp.max"); }
std::vector<OpSample> MinOp::sampleInputs() { return samples("mp.min"); }
