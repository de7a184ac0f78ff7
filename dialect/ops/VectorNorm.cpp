//===- VectorNorm.cpp - norms, and the logarithm of a sum -----------------===//
#include "dialect/ops/VectorNorm.h"
#include "dialect/Adjoint.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Syntax and type rules
//===----------------------------------------------------------------------===//

/// Parses a number as in `p(3)`, `p(0.5)`, `p(-inf)`.
static ParseResult parseOrderOf(OpAsmParser &parser, FloatAttr &order) {
  double sign = succeeded(parser.parseOptionalMinus()) ? -1 : 1, value = 0;
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    value = std::numeric_limits<double>::infinity();
  } else {
    int64_t whole;
    OptionalParseResult integer = parser.parseOptionalInteger(whole);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      value = whole;
    } else if (parser.parseFloat(value)) {
      return failure();
    }
  }
  order = parser.getBuilder().getF64FloatAttr(sign * value);
  return success();
}
static void printOrderTo(OpAsmPrinter &printer, FloatAttr order) {
  double value = order.getValueAsDouble();
  if (std::isinf(value))
    printer << (value < 0 ? "-inf" : "inf");
  else if (value == std::trunc(value) && std::abs(value) < 1e15)
    printer << static_cast<int64_t>(value);
  else
    printer.printFloat(order.getValue());
}

#define MP_ORDER(OP)                                                           \
  ParseResult OP::parseOrder(OpAsmParser &parser, FloatAttr &order) {          \
    return parseOrderOf(parser, order);                                        \
  }                                                                            \
  void OP::printOrder(OpAsmPrinter &printer, Operation *, FloatAttr order) {   \
    printOrderTo(printer, order);                                              \
  }
MP_ORDER(NormOp)
MP_ORDER(NormBackwardOp)
#undef MP_ORDER

/// Rejects empty vectors for norms that have no value for them.
template <typename Adaptor>
static LogicalResult checkOrder(std::optional<Location> location,
                                Adaptor adaptor) {
  // While an op is parsed, the default is not filled in yet.
  FloatAttr attr = adaptor.getPAttr();
  if (!attr && adaptor.getAttributes())
    attr = adaptor.getAttributes().template getAs<FloatAttr>("p");
  double p = attr ? attr.getValueAsDouble() : 2;
  if (std::isnan(p))
    return emitOptionalError(location, "p is NaN, expected a number");
  return p < 0 || std::isinf(p)
             ? checkNotEmpty(location, adaptor.getInput(), adaptor.getDims())
             : success();
}
LogicalResult NormOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (failed(inferReduction(location, adaptor.getInput(), adaptor.getDims(),
                            adaptor.getKeepdim(), types)))
    return failure();
  return checkOrder(location, adaptor);
}

LogicalResult NormBackwardOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  if (failed(inferReductionBackward(location, adaptor.getGradient(),
                                    adaptor.getInput(), adaptor.getDims(),
                                    adaptor.getKeepdim(), types)))
    return failure();
  return checkOrder(location, adaptor);
}

//===----------------------------------------------------------------------===//
// logsumexp
//===----------------------------------------------------------------------===//

namespace {
/// exp(x - shift) and its sum, with the reduced dimensions kept. An infinite
/// largest element is not subtracted, since inf - inf is NaN.
struct Exponentials {
  Exponentials(Expression x, ArrayRef<int64_t> dims) {
    shift = x.number(0);
    if (reducedCount(x, dims) != 0) {
      Expression largest = maxOver(x, dims);
      Expression isInfinite =
          abs(largest) == std::numeric_limits<double>::infinity();
      shift = select(isInfinite, shift, largest);
    }
    terms = exp(x - shift);
    total = sumOver(terms, dims);
  }
  Expression shift, terms, total;
};
} // namespace

SmallVector<Value> LogSumExpOp::decompose(ImplicitLocOpBuilder &b,
                                          ValueRange operands) {
  Exponentials e({b, operands[0]}, getDims());
  Expression sum = log(e.total) + e.shift;
  return {asReduced(b, sum, getDims(), getKeepdim())};
}
/// exp(x - logsumexp(x)) would be inaccurate where x is large.
SmallVector<Value> LogSumExpBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                  ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  Exponentials e(x, getDims());
  Expression share = e.terms / e.total;
  Expression g(b, withReducedDims(b, gradient, x, getDims()));
  return {g * share};
}
SmallVector<Value> LogSumExpOp::buildGradients(ImplicitLocOpBuilder &b,
                                               ValueRange g) {
  return {LogSumExpBackwardOp::create(b, g[0], getInput(), getDims(),
                                      getKeepdim())};
}
/// With u the gradient of the result, s the softmax and t the sum of u s, the
/// gradient for g is t, and that for the operand is g s (u - t).
SmallVector<Value> LogSumExpBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                       ValueRange u) {
  Value weighted = MulOp::create(b, u[0], getResult());
  Value total = SumOp::create(b, weighted, getDims(), true);
  Value share = LogSumExpBackwardOp::create(
      b, asReduced(b, total, getDims(), getKeepdim()), getInput(), getDims(),
      getKeepdim());
  auto scalar = RankedTensorType::get({}, elementType(getGradient()));
  Value ones = splat(b, scalar, 1);
  Value even = BroadcastOp::create(b, getGradient().getType(), ones);
  Value softmax =
      LogSumExpBackwardOp::create(b, even, getInput(), getDims(), getKeepdim());
  Value toGradient = SumOp::create(b, MulOp::create(b, u[0], softmax),
                                   getDims(), getKeepdim());
  return {toGradient, SubOp::create(b, weighted, share)};
}

//===----------------------------------------------------------------------===//
// norm
//===----------------------------------------------------------------------===//

/// x^p for x >= 0. Small integer powers are products; the others use the
/// logarithm, which gives the right limits at zero.
static Expression power(Expression x, double p) {
  if (p == 0)
    return x.number(1);
  if (p == 0.5)
    return sqrt(x);
  if (p != std::trunc(p) || std::abs(p) > 8)
    return exp(log(x) * p);
  Expression product = x;
  for (int i = 1; i < std::abs(p); ++i)
    product = product * x;
  return p > 0 ? product : 1 / product;
}

/// The norm, with the reduced dimensions kept.
static Expression normOf(Expression x, ArrayRef<int64_t> dims, double p) {
  if (p == 2)
    return sqrt(sumOver(x * x, dims));
  Expression size = abs(x);
  if (std::isinf(p))
    return p > 0 ? maxOver(size, dims) : minOver(size, dims);
  if (p == 0)
    return sumOver((x != 0).to(elementType(x)), dims);
  return power(sumOver(power(size, p), dims), 1 / p);
}

static Expression signOf(Expression x) {
  Type element = elementType(x);
  Expression positive = (x > 0).to(element), negative = (x < 0).to(element);
  return positive - negative;
}

/// `value`, or 0 where `x` is 0.
static Expression unlessZero(Expression x, Expression value) {
  return select(x == 0, 0, value);
}

/// The elements with the largest |x|, and every NaN, share the gradient evenly.
static Expression slopeOfExtreme(Expression x, Expression norm,
                                 ArrayRef<int64_t> dims) {
  Expression isEqual = abs(x) == norm, isNan = x != x;
  Expression chosen = (isEqual | isNan).to(elementType(x));
  Expression count = sumOver(chosen, dims);
  return signOf(x) / count * chosen;
}

/// d norm / d x, as torch.linalg.vector_norm chooses it at zeros.
static Expression slopeOfNorm(Expression x, ArrayRef<int64_t> dims, double p) {
  if (p == 0)
    return x.number(0);
  if (p == 1)
    return signOf(x);
  Expression norm = normOf(x, dims, p);
  if (std::isinf(p))
    return slopeOfExtreme(x, norm, dims);
  if (p == 2)
    return unlessZero(norm, x / norm);
  Expression size = abs(x);
  if (p < 1) {
    Expression part = unlessZero(x, power(size, p - 1));
    part = part * signOf(x);
    return part * power(norm, 1 - p);
  }
  Expression direction = p < 2 ? signOf(x) : x;
  Expression part = direction * power(size, p < 2 ? p - 1 : p - 2);
  return unlessZero(norm, part / power(norm, p - 1));
}

SmallVector<Value> NormOp::decompose(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  Expression x(b, operands[0]);
  Value norm = normOf(x, getDims(), getP().convertToDouble());
  return {asReduced(b, norm, getDims(), getKeepdim())};
}
SmallVector<Value> NormBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  auto [gradient, x] = expressions<2>(b, operands);
  Expression slope = slopeOfNorm(x, getDims(), getP().convertToDouble());
  Expression g(b, withReducedDims(b, gradient, x, getDims()));
  return {BroadcastOp::create(b, tensorType(x), Value(g * slope))};
}
SmallVector<Value> NormOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  return {NormBackwardOp::create(b, g[0], getInput(), getDims(), getKeepdim(),
                                 getP())};
}
SmallVector<Value> NormBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                  ValueRange g) {
  return differentiateParts(*this, b, g);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

std::vector<OpSample> LogSumExpOp::sampleInputs() {
  return {{{{"tensor<3x5xf64>", -2, 2}},
           "mp.logsumexp %0 dims[1] : tensor<3x5xf64>"},
          {{{"tensor<2x3x4xf64>", -2, 2}},
           "mp.logsumexp %0 dims[0, 2] keepdim : tensor<2x3x4xf64>"}};
}
std::vector<OpSample> LogSumExpBackwardOp::sampleInputs() {
  return {{{{"tensor<3xf64>"}, {"tensor<3x5xf64>", -2, 2}},
           "mp.logsumexp_backward %0, %1 dims[1] : tensor<3xf64>, "
           "tensor<3x5xf64>"}};
}
// Samples are away from zero, where most norms have a kink. The count of p = 0
// has a zero derivative.
std::vector<OpSample> NormOp::sampleInputs() {
  std::vector<OpSample> samples;
  for (const char *order : {"", " p(1)", " p(inf)", " p(-inf)", " p(3)",
                            " p(0.5)", " p(1.5)", " p(2.5)", " p(-1)"})
    samples.push_back(
        {{{"tensor<3x5xf64>", -2, 2, 0.2}},
         std::string("mp.norm %0 dims[1]") + order + " : tensor<3x5xf64>"});
  samples.push_back({{{"tensor<3x5xf64>"}},
                     "mp.norm %0 dims[0, 1] keepdim : tensor<3x5xf64>"});
  return samples;
}
std::vector<OpSample> NormBackwardOp::sampleInputs() {
  std::vector<OpSample> samples;
  for (const char *order : {"", " p(3)", " p(1.5)", " p(0.5)"})
    samples.push_back({{{"tensor<3xf64>"}, {"tensor<3x5xf64>", -2, 2, 0.2}},
                       std::string("mp.norm_backward %0, %1 dims[1]") + order +
                           " : tensor<3xf64>, tensor<3x5xf64>"});
  return samples;
}
