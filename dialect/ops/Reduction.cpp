//===- Reduction.cpp - sums, products, extremes ---------------------------===//
#include "dialect/ops/Reduction.h"
#include "dialect/Accuracy.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

LogicalResult ArgmaxOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t dim = adaptor.getDim();
  if (failed(inferReduction(location, adaptor.getInput(), dim,
                            adaptor.getKeepdim(), types)) ||
      failed(checkNotEmpty(location, adaptor.getInput(), dim)))
    return failure();
  // While an op is parsed, the property is not set yet.
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
  // The neutral element of addition is -0.0, as -0.0 + 0.0 is 0.0.
  if (isa<FloatType>(type))
    return FloatAttr::get(type, -0.0);
  return IntegerAttr::get(type, 0);
}
Value SumOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  return Expression(b, accumulator) + Expression(b, element);
}

TypedAttr ProdOp::getNeutral(Type type) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, 1.0);
  return IntegerAttr::get(type, 1);
}
Value ProdOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                            Value element) {
  return Expression(b, accumulator) * Expression(b, element);
}

/// The largest of several zeros may have either sign, because telling them
/// apart would cost as much as the handling of NaN.
static constexpr auto kAnyZero = arith::FastMathFlags::nsz;

TypedAttr MaxOp::getNeutral(Type type) {
  return isa<FloatType>(type) ? infinity(type, true)
                              : extreme(type, isUnsigned(getInput()), false);
}
Value MaxOp::buildCombiner(ImplicitLocOpBuilder &b, Value accumulator,
                           Value element) {
  if (isa<FloatType>(element.getType())) {
    auto combiner =
        arith::MaximumFOp::create(b, accumulator, element, kAnyZero);
    if (Attribute hint = (*this)->getAttr(kAnyWithNaNAttr))
      combiner->setAttr(kAnyWithNaNAttr, hint);
    return combiner;
  }
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
    return arith::MinimumFOp::create(b, accumulator, element, kAnyZero);
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
  Expression sum(b, SumOp::create(b, operands[0], getDims(), getKeepdim()));
  return {sum / reducedCount(getInput(), getDims())};
}

//===----------------------------------------------------------------------===//
// prod_backward
//===----------------------------------------------------------------------===//

namespace {
/// The parts of a product's derivatives. The product of the other elements is
/// computed without dividing by zeros.
class Factors {
public:
  Factors(Expression input, ArrayRef<int64_t> dims) : dims(dims) {
    isZero = input == 0;
    factor = select(isZero, 1, input);
    auto &b = input.builder();
    product = {b, ProdOp::create(b, Value(factor), dims, true)};
    zeros = sumOver(isZero.to(elementType(input)), dims);
  }

  /// The product of the nonzero elements in runs with `count` zeros; else 0.
  Expression productWith(double count) {
    return select(zeros == count, product, 0);
  }

  ArrayRef<int64_t> dims;
  Expression isZero, factor; ///< the operand with ones for zeros
  Expression product, zeros; ///< of each run, with the reduced dimensions kept
};
} // namespace

/// The product of the other elements. In a run with one zero, only that zero
/// has a nonzero product; in a run with more, none has.
SmallVector<Value> ProdBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  Factors f({b, operands[1]}, getDims());
  Expression atZero = f.productWith(1), elsewhere = f.productWith(0) / f.factor;
  Expression slope = select(f.isZero, atZero, elsewhere);
  Expression g(b, withReducedDims(b, operands[0], operands[1], getDims()));
  return {g * slope};
}

/// With u the gradient of the result, sum over i != k of u_i times the product
/// of all elements except i and k. If element k is zero, any other zero must be
/// i.
SmallVector<Value> ProdBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                  ValueRange u) {
  Expression x = Expression(b, getInput()).wide();
  Expression wide = Expression(b, u[0]).wide();
  Factors f(x, getDims());
  Expression share = wide / f.factor;
  Expression zero = x.number(0);
  Expression nonzeros = sumOver(select(f.isZero, zero, share), getDims());
  Expression zeros = sumOver(select(f.isZero, wide, zero), getDims());
  Expression at0 = f.productWith(0), at1 = f.productWith(1),
             at2 = f.productWith(2);
  auto sumOfProducts = [](Expression x, Expression y, Expression z,
                          Expression w) {
    Expression left = x * y, right = z * w;
    return left + right;
  };
  Expression toGradient = sumOfProducts(at0, nonzeros, at1, zeros);
  Expression otherShares = nonzeros - share;
  Expression elsewhere = sumOfProducts(at0, otherShares, at1, zeros) / f.factor;
  Expression atZero = sumOfProducts(at1, nonzeros, at2, zeros - wide);
  Expression slope = select(f.isZero, atZero, elsewhere);
  Expression g = Expression(b, getGradient()).wide();
  Expression column(b, withReducedDims(b, g, getInput(), getDims()));
  return {asReduced(b, toGradient, getDims(), getKeepdim()), column * slope};
}

//===----------------------------------------------------------------------===//
// argmax
//===----------------------------------------------------------------------===//

SmallVector<Value> ArgmaxOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  Expression x(b, operands[0]);
  auto type = tensorType(x);
  int64_t dim = getDim();
  Expression isLargest = x == maxOver(x, dim);
  // A NaN makes the largest element NaN, which equals no element.
  if (isa<FloatType>(type.getElementType()))
    isLargest = isLargest | (x != x);
  Expression index(b, IotaOp::create(b, type.clone(b.getI32Type()), dim));
  Value candidates = select(isLargest, index, INT32_MAX);
  Value first = MinOp::create(b, candidates, ArrayRef(dim), getKeepdim());
  return {castTo(b, first, elementType(getResult()))};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Brings a value of the reduction's result to the operand's shape.
static Value spread(ImplicitLocOpBuilder &b, Value value, Value input,
                    ArrayRef<int64_t> dims) {
  auto type = tensorType(input).clone(elementType(value));
  SmallVector<int64_t> kept(type.getShape());
  for (int64_t dim : dims)
    kept[dim] = 1;
  // Broadcasting adds leading dimensions implicitly.
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
