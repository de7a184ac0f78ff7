//===- Arithmetic.cpp - arithmetic of one and two tensors -----------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/Expression.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mp;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static bool isUnsigned(Value tensor) {
  return elementType(tensor).isUnsignedInteger();
}

/// The float form or the integer form of an op of `arith`.
template <typename FloatOp, typename IntOp>
static Scalars buildEither(ImplicitLocOpBuilder &b, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return {FloatOp::create(b, x[0], x[1])};
  return {IntOp::create(b, x[0], x[1])};
}
template <typename FloatOp, typename SignedOp, typename UnsignedOp>
static Scalars buildSigned(ImplicitLocOpBuilder &b, ValueRange x,
                           Value tensor) {
  return isUnsigned(tensor) ? buildEither<FloatOp, UnsignedOp>(b, x)
                            : buildEither<FloatOp, SignedOp>(b, x);
}

Scalars AddOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return buildEither<arith::AddFOp, arith::AddIOp>(b, x);
}
Scalars SubOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return buildEither<arith::SubFOp, arith::SubIOp>(b, x);
}
Scalars MulOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return buildEither<arith::MulFOp, arith::MulIOp>(b, x);
}
Scalars DivOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return buildSigned<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(b, x,
                                                                    getLhs());
}
Scalars MaximumOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return buildSigned<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(
      b, x, getLhs());
}
Scalars MinimumOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return buildSigned<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(
      b, x, getLhs());
}
Scalars NegOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {arith::NegFOp::create(b, x[0])};
}
Scalars AbsOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {math::AbsFOp::create(b, x[0])};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

Gradients AddOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {g[0], g[0]};
}
Gradients SubOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {g[0], NegOp::create(b, g[0])};
}
Gradients MulOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Value lhs = MulOp::create(b, g[0], getRhs());
  Value rhs = MulOp::create(b, g[0], getLhs());
  return {lhs, rhs};
}
Gradients DivOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Value lhs = DivOp::create(b, g[0], getRhs());
  Value product = MulOp::create(b, lhs, getResult());
  return {lhs, NegOp::create(b, product)};
}

/// The operand that loses gets no gradient, equal operands get half of it each,
/// and both get all of it if one is NaN.
template <typename Op>
static Gradients gradientOfExtreme(Op op, ImplicitLocOpBuilder &b, Value g,
                                   Comparison loses) {
  auto scalar = RankedTensorType::get({}, elementType(g));
  auto share = [&](Value mine, Value other) -> Value {
    Value lost = CompareOp::create(b, loses, mine, other);
    Value equal = CompareOp::create(b, Comparison::eq, mine, other);
    Value half = MulOp::create(b, g, splat(b, scalar, 0.5));
    Value most = SelectOp::create(b, equal, half, g);
    return SelectOp::create(b, lost, splat(b, scalar, 0), most);
  };
  Value lhs = share(op.getLhs(), op.getRhs());
  Value rhs = share(op.getRhs(), op.getLhs());
  return {lhs, rhs};
}
Gradients MaximumOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return gradientOfExtreme(*this, b, g[0], Comparison::lt);
}
Gradients MinimumOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return gradientOfExtreme(*this, b, g[0], Comparison::gt);
}
Gradients NegOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {NegOp::create(b, g[0])};
}
Gradients AbsOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {MulOp::create(b, g[0], SignOp::create(b, getInput()))};
}
//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static const char *const kMatrix = "tensor<3x5xf64>";

/// Samples with equal shapes, and with one operand broadcast.
static std::vector<OpSample> binarySamples(StringRef name,
                                           OperandSample range) {
  std::vector<OpSample> samples;
  for (const char *rhs :
       {"tensor<3x5xf64>", "tensor<5xf64>", "tensor<3x1xf64>", "tensor<f64>"}) {
    OperandSample left = range, right = range;
    left.type = kMatrix;
    right.type = rhs;
    samples.push_back(
        {{left, right}, (name + " %0, %1 : tensor<3x5xf64>, " + rhs).str()});
  }
  return samples;
}
static std::vector<OpSample> unarySamples(StringRef name, double low,
                                          double high, double gap = 0) {
  return {
      {{{kMatrix, low, high, gap}}, (name + " %0 : tensor<3x5xf64>").str()}};
}

std::vector<OpSample> AddOp::sampleInputs() {
  return binarySamples("mp.add", {});
}
std::vector<OpSample> SubOp::sampleInputs() {
  return binarySamples("mp.sub", {});
}
std::vector<OpSample> MulOp::sampleInputs() {
  return binarySamples("mp.mul", {});
}
std::vector<OpSample> DivOp::sampleInputs() {
  return binarySamples("mp.div", {"", -2, 2, 0.5});
}
std::vector<OpSample> MaximumOp::sampleInputs() {
  return binarySamples("mp.maximum", {});
}
std::vector<OpSample> MinimumOp::sampleInputs() {
  return binarySamples("mp.minimum", {});
}
std::vector<OpSample> NegOp::sampleInputs() {
  return unarySamples("mp.neg", -1, 1);
}
std::vector<OpSample> AbsOp::sampleInputs() {
  return unarySamples("mp.abs", -1, 1, 0.1);
}
//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// `x` if the other operand is the constant `identity` and changes nothing, not
/// even the shape. -0.0 differs from 0.0: x + 0.0 is not x for x = -0.0.
static Value foldIdentity(Value x, Attribute other, Type result,
                          double identity) {
  auto value = splatValue(other);
  if (x.getType() != result || !value || *value != identity ||
      std::signbit(*value) != std::signbit(identity))
    return {};
  return x;
}
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  double identity = isa<FloatType>(elementType(getLhs())) ? -0.0 : 0.0;
  return foldIdentity(getLhs(), adaptor.getRhs(), getType(), identity);
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldIdentity(getLhs(), adaptor.getRhs(), getType(), 0.0);
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return foldIdentity(getLhs(), adaptor.getRhs(), getType(), 1.0);
}
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldIdentity(getLhs(), adaptor.getRhs(), getType(), 1.0);
}
OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getInput().getDefiningOp<NegOp>())
    return inner.getInput();
  return {};
}
