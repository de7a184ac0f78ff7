//===- VectorNorm.cpp - norms, and the logarithm of a sum -----------------===//
#include "dialect/ops/VectorNorm.h"
#include "dialect/Adjoint.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Syntax and type rules
//===----------------------------------------------------------------------===//

/// A number as in `p(3)`, `p(0.5)`, `p(-inf)`.
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

LogicalResult LogSumExpOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferReduction(location, adaptor.getInput(), adaptor.getDims(),
                        adaptor.getKeepdim(), types);
}

/// A norm without a value for no element has none of such vectors.
template <typename Adaptor>
static LogicalResult checkOrder(std::optional<Location> location,
                                Adaptor adaptor) {
  // The default is not yet filled in when an op is parsed.
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

#define MP_INFER_BACKWARD(OP, CHECK)                                           \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    if (failed(inferReductionBackward(location, adaptor.getGradient(),         \
                                      adaptor.getInput(), adaptor.getDims(),   \
                                      adaptor.getKeepdim(), types)))           \
      return failure();                                                        \
    return CHECK;                                                              \
  }
MP_INFER_BACKWARD(LogSumExpBackwardOp, success())
MP_INFER_BACKWARD(NormBackwardOp, checkOrder(location, adaptor))
#undef MP_INFER_BACKWARD

//===----------------------------------------------------------------------===//
// logsumexp
//===----------------------------------------------------------------------===//

static Value number(ImplicitLocOpBuilder &b, Value like, double value) {
  return splat(b, RankedTensorType::get({}, elementType(like)), value);
}

namespace {
/// exp(x - shift) and its sum, with the reduced dimensions kept. A largest
/// element that is infinite is not subtracted: inf - inf is no number.
struct Exponentials {
  Exponentials(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> dims) {
    shift = number(b, x, 0);
    if (reducedCount(x, dims) != 0) {
      Value largest = MaxOp::create(b, x, dims, true);
      Value size = AbsOp::create(b, largest);
      Value infinity = number(b, x, std::numeric_limits<double>::infinity());
      Value isInfinite = CompareOp::create(b, Comparison::eq, size, infinity);
      shift = SelectOp::create(b, isInfinite, shift, largest);
    }
    terms = ExpOp::create(b, SubOp::create(b, x, shift));
    total = SumOp::create(b, terms, dims, true);
  }
  Value shift, terms, total;
};
} // namespace

SmallVector<Value> LogSumExpOp::decompose(ImplicitLocOpBuilder &b,
                                          ValueRange operands) {
  Exponentials e(b, operands[0], getDims());
  Value sum = AddOp::create(b, LogOp::create(b, e.total), e.shift);
  return {asReduced(b, sum, getDims(), getKeepdim())};
}
/// Not exp(x - logsumexp(x)), which is coarse where x is large.
SmallVector<Value> LogSumExpBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                                  ValueRange operands) {
  Exponentials e(b, operands[1], getDims());
  Value share = DivOp::create(b, e.terms, e.total);
  Value g = withReducedDims(b, operands[0], operands[1], getDims());
  return {MulOp::create(b, g, share)};
}
SmallVector<Value> LogSumExpOp::buildGradients(ImplicitLocOpBuilder &b,
                                               ValueRange g) {
  return {LogSumExpBackwardOp::create(b, g[0], getInput(), getDims(),
                                      getKeepdim())};
}
/// With u the gradient of the result, s the softmax and t the sum of u s: what
/// the gradient gets is t, and the operand g s (u - t).
SmallVector<Value> LogSumExpBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                                       ValueRange u) {
  Value weighted = MulOp::create(b, u[0], getResult());
  Value total = SumOp::create(b, weighted, getDims(), true);
  Value share = LogSumExpBackwardOp::create(
      b, asReduced(b, total, getDims(), getKeepdim()), getInput(), getDims(),
      getKeepdim());
  Value ones = number(b, getGradient(), 1);
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

/// x^p of what is not negative. Small whole powers are products; the others are
/// by the logarithm, which gives the right limits at zero.
static Value power(ImplicitLocOpBuilder &b, Value x, double p) {
  if (p == 0)
    return number(b, x, 1);
  if (p == 0.5)
    return SqrtOp::create(b, x);
  if (p != std::trunc(p) || std::abs(p) > 8) {
    Value logarithm = LogOp::create(b, x);
    return ExpOp::create(b, MulOp::create(b, logarithm, number(b, x, p)));
  }
  Value product = x;
  for (int i = 1; i < std::abs(p); ++i)
    product = MulOp::create(b, product, x);
  return p > 0 ? product : Value(DivOp::create(b, number(b, x, 1), product));
}

/// With the reduced dimensions kept.
static Value normOf(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> dims,
                    double p) {
  if (p == 2)
    return SqrtOp::create(b,
                          SumOp::create(b, MulOp::create(b, x, x), dims, true));
  Value size = AbsOp::create(b, x);
  if (std::isinf(p))
    return p > 0 ? Value(MaxOp::create(b, size, dims, true))
                 : Value(MinOp::create(b, size, dims, true));
  if (p == 0) {
    Value isNonzero = CompareOp::create(b, Comparison::ne, x, number(b, x, 0));
    return SumOp::create(b, castTo(b, isNonzero, elementType(x)), dims, true);
  }
  return power(b, SumOp::create(b, power(b, size, p), dims, true), 1 / p);
}

static Value signOf(ImplicitLocOpBuilder &b, Value x) {
  auto is = [&](Comparison relation) {
    return castTo(b, CompareOp::create(b, relation, x, number(b, x, 0)),
                  elementType(x));
  };
  Value positive = is(Comparison::gt), negative = is(Comparison::lt);
  return SubOp::create(b, positive, negative);
}

/// `value`, or 0 where `x` is.
static Value unlessZero(ImplicitLocOpBuilder &b, Value x, Value value) {
  Value isZero = CompareOp::create(b, Comparison::eq, x, number(b, x, 0));
  return SelectOp::create(b, isZero, number(b, x, 0), value);
}

/// The largest of |x|, and each NaN, share the gradient evenly.
static Value slopeOfExtreme(ImplicitLocOpBuilder &b, Value x, Value norm,
                            ArrayRef<int64_t> dims) {
  Value equal = CompareOp::create(b, Comparison::eq, AbsOp::create(b, x), norm);
  Value isNan = CompareOp::create(b, Comparison::ne, x, x);
  Value chosen = castTo(b, OrOp::create(b, equal, isNan), elementType(x));
  Value count = SumOp::create(b, chosen, dims, true);
  Value share = DivOp::create(b, signOf(b, x), count);
  return MulOp::create(b, share, chosen);
}

/// d norm / d x, as torch.linalg.vector_norm chooses it at zeros.
static Value slopeOfNorm(ImplicitLocOpBuilder &b, Value x,
                         ArrayRef<int64_t> dims, double p) {
  if (p == 0)
    return number(b, x, 0);
  if (p == 1)
    return signOf(b, x);
  Value norm = normOf(b, x, dims, p);
  if (std::isinf(p))
    return slopeOfExtreme(b, x, norm, dims);
  if (p == 2)
    return unlessZero(b, norm, DivOp::create(b, x, norm));
  Value size = AbsOp::create(b, x);
  if (p < 1) {
    Value part = unlessZero(b, x, power(b, size, p - 1));
    part = MulOp::create(b, part, signOf(b, x));
    return MulOp::create(b, part, power(b, norm, 1 - p));
  }
  Value direction = p < 2 ? signOf(b, x) : x;
  Value part =
      MulOp::create(b, direction, power(b, size, p < 2 ? p - 1 : p - 2));
  return unlessZero(b, norm, DivOp::create(b, part, power(b, norm, p - 1)));
}

SmallVector<Value> NormOp::decompose(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  Value norm = normOf(b, operands[0], getDims(), getP().convertToDouble());
  return {asReduced(b, norm, getDims(), getKeepdim())};
}
SmallVector<Value> NormBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                             ValueRange operands) {
  Value x = operands[1];
  Value slope = slopeOfNorm(b, x, getDims(), getP().convertToDouble());
  Value g = withReducedDims(b, operands[0], x, getDims());
  return {BroadcastOp::create(b, tensorType(x), MulOp::create(b, g, slope))};
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
// Away from zero, where most orders have a kink. The count has no slope.
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
