//===- Random.cpp - random numbers, dropout, random rounding --------------===//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Random.h"
#include "dialect/Philox.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include <cmath>

using namespace mlir;
using namespace mp;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

/// The key of an op: `parts` are its key operands.
template <typename Op>
static RandomKey keyOf(Op op, ImplicitLocOpBuilder &b, ValueRange parts) {
  auto [seed, attempt] = expressions<2>(b, parts);
  Expression microBatch =
      parts.size() > 2 ? Expression(b, parts[2]) : seed.number(0);
  Expression stream =
      parts.size() > 4 ? Expression(b, parts[4]) : seed.number(*op.getStream());
  if (parts.size() > 3)
    stream = stream + Expression(b, parts[3]) * kStreamsPerTimeStep;
  return {seed, stream, attempt, microBatch};
}

/// The word of the element that `scalars` belong to: the operands of the op,
/// followed by the key and the element's index.
template <typename Op>
static Expression wordOf(Op op, ImplicitLocOpBuilder &b, ValueRange scalars) {
  ValueRange parts = scalars.drop_back().take_back(op.getKey().size());
  return randomWord(keyOf(op, b, parts), Expression(b, scalars.back()));
}

/// The upper 24 bits of a word as a number in [0, 1).
static Expression unitInterval(Expression word, Type type) {
  return shiftRightLogical(word, 8).to(type) * 0x1p-24;
}

//===----------------------------------------------------------------------===//
// Checks that all ops share
//===----------------------------------------------------------------------===//

/// `drawn` has as many elements as numbers are drawn, as the result has unless
/// it is given.
static LogicalResult verifyDraw(Operation *op, std::optional<uint64_t> stream,
                                size_t keySize, Value drawn = {}) {
  if (stream && !llvm::isUInt<32>(*stream))
    return op->emitOpError() << "stream is " << static_cast<int64_t>(*stream)
                             << ", expected 0 to " << UINT32_MAX;
  if (keySize > 5)
    return op->emitOpError()
           << "key has " << keySize
           << " parts, expected seed, attempt, micro-batch, the time step of a "
              "scan, and the stream";
  auto type = tensorType(drawn ? drawn : op->getResult(0));
  constexpr int64_t most = int64_t(1) << 34; // an index / 4 has 32 bits
  if (type.hasStaticShape() && type.getNumElements() > most)
    return op->emitOpError() << "draws " << type.getNumElements()
                             << " numbers, expected at most " << most;
  return success();
}

/// Ops without a stream get an effect, so that CSE does not merge two of them
/// that look equal.
static void
addEffects(Operation *op, bool hasStream,
           SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
               &effects) {
  if (!hasStream)
    effects.emplace_back(MemoryEffects::Allocate::get(), op->getOpResult(0));
}

#define MP_RANDOM(OP)                                                          \
  void OP::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    addEffects(*this, getStream().has_value(), effects);                       \
  }
MP_RANDOM(RandomKeyOp)
MP_RANDOM(UniformOp)
MP_RANDOM(NormalOp)
MP_RANDOM(GumbelOp)
MP_RANDOM(BernoulliOp)
MP_RANDOM(CategoricalOp)
MP_RANDOM(DropoutOp)
MP_RANDOM(DropoutBackwardOp)
MP_RANDOM(StochasticRoundOp)
#undef MP_RANDOM

//===----------------------------------------------------------------------===//
// random_key
//===----------------------------------------------------------------------===//

LogicalResult RandomKeyOp::verify() {
  return verifyDraw(*this, getStream(), getKey().size());
}

Scalars RandomKeyOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  RandomKey key = keyOf(*this, b, x.drop_back());
  Expression index(b, x.back());
  Expression upper = select(index == 2, key.attempt, key.microBatch);
  return {select(index == 0, key.seed, select(index == 1, key.stream, upper))};
}

//===----------------------------------------------------------------------===//
// uniform
//===----------------------------------------------------------------------===//

LogicalResult UniformOp::verify() {
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  if (!(low <= high))
    return emitOpError() << "low is " << low << " and high is " << high
                         << ", expected low <= high";
  auto &semantics = cast<FloatType>(computeType(elementType(getResult())))
                        .getFloatSemantics();
  APFloat width(high - low);
  bool lossy;
  width.convert(semantics, APFloat::rmNearestTiesToEven, &lossy);
  if (!width.isFinite())
    return emitOpError() << "high - low is " << high - low
                         << ", which is not finite in "
                         << computeType(elementType(getResult()));
  return verifyDraw(*this, getStream(), getKey().size());
}

/// The largest number of a type that is less than `bound`.
static double largestBelow(FloatType type, double bound) {
  APFloat value(bound);
  bool lossy;
  value.convert(type.getFloatSemantics(), APFloat::rmTowardZero, &lossy);
  APFloat back = value;
  back.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  if (back.convertToDouble() >= bound) {
    value.next(/*nextDown=*/true);
    back = value;
    back.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  }
  return back.convertToDouble();
}

Scalars UniformOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  auto element = cast<FloatType>(elementType(getResult()));
  Type type = computeType(element);
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  Expression unit = unitInterval(wordOf(*this, b, x), type);
  Expression scaled = low + (high - low) * unit;
  // Rounding may reach `high`, unless the type has no number between them.
  double below = largestBelow(element, high);
  if (below >= low)
    scaled = min(scaled, below);
  return {scaled};
}

//===----------------------------------------------------------------------===//
// normal
//===----------------------------------------------------------------------===//

LogicalResult NormalOp::verify() {
  double mean = getMean().convertToDouble(), std = getStd().convertToDouble();
  if (!std::isfinite(mean) || !std::isfinite(std) || std < 0)
    return emitOpError() << "mean is " << mean << " and std is " << std
                         << ", expected finite numbers and std >= 0";
  return verifyDraw(*this, getStream(), getKey().size());
}

/// Horner's rule; the highest coefficient comes first.
static Expression polynomial(Expression x, ArrayRef<double> coefficients) {
  Expression sum = x.number(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = fma(sum, x, coefficient);
  return sum;
}

/// The inverse of the error function at x = 1 - q, x >= 0, as a polynomial of w
/// = -log(1 - x^2) times x, which is Giles' form ("Approximating the erfinv
/// function", GPU Computing Gems 2, 2011). The coefficients are our own minimax
/// fits, up to w = 22 instead of his 16.
static Expression inverseErf(Expression x, Expression q) {
  Expression w = -log(q * (2 - q));
  // Relative errors are 2^-23.3 for w in [0, 5] and 2^-23.1 in [5, 22].
  Expression centre =
      polynomial(w - 2.5, {0x1.e99046p-26, 0x1.716876p-22, -0x1.d986f4p-19,
                           -0x1.27504ep-18, 0x1.ca6e34p-13, -0x1.48a5fap-10,
                           -0x1.11ca12p-8, 0x1.f91ec4p-3, 0x1.805c5ep+0});
  Expression tail =
      polynomial(sqrt(w) - 3,
                 {0x1.44f92p-15, -0x1.4e2948p-13, -0x1.48ae3cp-16,
                  0x1.52cd54p-10, -0x1.d47a6ep-9, 0x1.7a0f84p-8, -0x1.f550aap-8,
                  0x1.351d68p-7, 0x1.006dd4p+0, 0x1.6a9efep+1});
  return select(w < 5, centre, tail) * x;
}

Scalars NormalOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange scalars) {
  // The signed word represents x = (word + 1/2) / 2^31 in (-1, 1). With
  // m = |x| 2^31 - 1/2, |x| and 1 - |x| are computed without cancellation.
  Expression word = wordOf(*this, b, scalars);
  Expression m = word ^ (word >> 31);
  auto centred = [&](Expression whole) {
    return (whole.to(b.getF32Type()) + 0.5) * 0x1p-31;
  };
  Expression x = centred(m), q = centred(m ^ INT32_MAX);
  Expression z = inverseErf(x, q) * std::sqrt(2.0);
  z = select(word < 0, -z, z);
  Expression spread =
      getStd().convertToDouble() * z.to(computeType(elementType(getResult())));
  return {getMean().convertToDouble() + spread};
}

//===----------------------------------------------------------------------===//
// gumbel
//===----------------------------------------------------------------------===//

LogicalResult GumbelOp::verify() {
  return verifyDraw(*this, getStream(), getKey().size());
}

/// Small u make the large numbers, and are exact; large ones may round to 1,
/// where the logarithm would be infinite.
Scalars GumbelOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange scalars) {
  Expression place = shiftRightLogical(wordOf(*this, b, scalars), 1);
  Expression u = (place.to(b.getF32Type()) + 0.5) * 0x1p-31;
  Expression number = -log(-log1p(-min(u, 1 - 0x1p-24)));
  return {number.to(computeType(elementType(getResult())))};
}

//===----------------------------------------------------------------------===//
// categorical
//===----------------------------------------------------------------------===//

LogicalResult CategoricalOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  Value logits = adaptor.getLogits();
  int64_t dim = adaptor.getDim();
  if (failed(inferReduction(location, logits, dim, /*keepdim=*/false, types)) ||
      failed(checkNotEmpty(location, logits, dim)))
    return failure();
  types[0] =
      cast<RankedTensorType>(types[0]).clone(IntegerType::get(context, 32));
  return success();
}

LogicalResult CategoricalOp::verify() {
  return verifyDraw(*this, getStream(), getKey().size(), getLogits());
}

SmallVector<Value> CategoricalOp::decompose(ImplicitLocOpBuilder &b,
                                            ValueRange operands) {
  Value noise = GumbelOp::create(b, operands[0].getType(),
                                 operands.drop_front(), getStreamAttr());
  Value perturbed = AddOp::create(b, operands[0], noise);
  return {ArgmaxOp::create(b, perturbed, getDim(), /*keepdim=*/false,
                           TypeAttr::get(b.getI32Type()))};
}

//===----------------------------------------------------------------------===//
// bernoulli
//===----------------------------------------------------------------------===//

LogicalResult BernoulliOp::verify() {
  return verifyDraw(*this, getStream(), getKey().size());
}

Scalars BernoulliOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Expression probability(b, x[0]);
  Expression unit = unitInterval(wordOf(*this, b, x), probability.getType());
  Expression isOne = unit < probability;
  Expression one = probability.number(1), zero = probability.number(0);
  return {select(isOne, one, zero)};
}

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult verifyDrop(Op op) {
  double p = op.getP().convertToDouble();
  if (!(p >= 0 && p <= 1))
    return op.emitOpError() << "p is " << p << ", expected 0 to 1";
  return verifyDraw(op, op.getStream(), op.getKey().size());
}
LogicalResult DropoutOp::verify() { return verifyDrop(*this); }
LogicalResult DropoutBackwardOp::verify() {
  if (!getStream())
    return emitOpError() << "draws again what mp.dropout drew: name its stream";
  return verifyDrop(*this);
}

/// x times zero or 1 / (1 - p), like torch.native_dropout.
template <typename Op>
static Value drop(Op op, ImplicitLocOpBuilder &b, ValueRange x) {
  Expression input(b, x[0]);
  return input * dropoutFactor(wordOf(op, b, x), op.getP().convertToDouble(),
                               input.getType());
}
Scalars DropoutOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {drop(*this, b, x)};
}
Scalars DropoutBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {drop(*this, b, x)};
}

/// A diagonal matrix is its own adjoint; keys get no gradient.
template <typename Op>
static Gradients dropGradient(Op op, ImplicitLocOpBuilder &b, Value gradient) {
  Gradients gradients(op->getNumOperands());
  gradients[0] = DropoutBackwardOp::create(b, gradient, op.getKey(),
                                           op.getStreamAttr(), op.getPAttr());
  return gradients;
}
Gradients DropoutOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return dropGradient(*this, b, g[0]);
}
Gradients DropoutBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  return dropGradient(*this, b, g[0]);
}

/// Dropout with p = 0 is the identity.
OpFoldResult DropoutOp::fold(FoldAdaptor) {
  return getP().isZero() ? getInput() : Value();
}
OpFoldResult DropoutBackwardOp::fold(FoldAdaptor) {
  return getP().isZero() ? getInput() : Value();
}

static OpSample dropSample(StringRef op) {
  return {
      {{"tensor<3x5xf64>"}, {"tensor<i64>", 0, 1000}, {"tensor<i64>", 0, 1000}},
      (op + " %0 stream(5) key(%1, %2) {p = 0.3} : tensor<3x5xf64>").str()};
}
std::vector<OpSample> DropoutOp::sampleInputs() {
  return {dropSample("mp.dropout")};
}
std::vector<OpSample> DropoutBackwardOp::sampleInputs() {
  return {dropSample("mp.dropout_backward")};
}

//===----------------------------------------------------------------------===//
// stochastic_round
//===----------------------------------------------------------------------===//

LogicalResult StochasticRoundOp::verify() {
  if (getInput().getType().getShape() != getType().getShape())
    return emitOpError() << "changes the shape: " << getInput().getType()
                         << " vs " << getType();
  return verifyDraw(*this, getStream(), getKey().size());
}

/// A bf16 is the upper half of an f32: adding 16 random bits to the lower half
/// rounds up if they carry. A NaN is made quiet, because truncation could turn
/// it into infinity.
static Expression roundToBF16(Expression x, Expression word) {
  auto &b = x.builder();
  Expression bits = bitcast(x, b.getI32Type());
  Expression carried = bits + shiftRightLogical(word, 16);
  Expression quiet = bits | 0x400000;
  Expression upper = select(isUnordered(x, x), quiet, carried) & 0xffff0000;
  return bitcast(upper, b.getF32Type()).to(b.getBF16Type());
}

/// Splits |x|, in units of its last place in f16, into whole and fraction.
static Expression roundToF16(Expression x, Expression word) {
  auto &b = x.builder();
  Type f32 = b.getF32Type();
  Expression magnitude = abs(x);
  // The power of two of x, at least 2^-14; at 2^16 all results are infinite.
  Expression bits = bitcast(magnitude, b.getI32Type()) & 0x7f800000;
  bits = min(max(bits, (127 - 14) << 23), (127 + 16) << 23);
  Expression unit = bitcast(bits, f32) * 0x1p-10;
  Expression scaled = magnitude / unit;
  Expression whole = floor(scaled);
  Expression rest = scaled - whole;
  Expression isUp = unitInterval(word, f32) < rest;
  Expression next = whole + 1;
  Expression rounded = select(isUp, next, whole) * unit;
  Expression isFinite = magnitude < std::numeric_limits<double>::infinity();
  Value result = select(isFinite, rounded, magnitude);
  Expression signedResult(b, math::CopySignOp::create(b, result, Value(x)));
  return signedResult.to(b.getF16Type());
}

Scalars StochasticRoundOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Expression word = wordOf(*this, b, x), input(b, x[0]);
  return {elementType(getResult()).isBF16() ? roundToBF16(input, word)
                                            : roundToF16(input, word)};
}
