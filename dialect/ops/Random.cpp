//===- Random.cpp - random numbers, dropout, random rounding --------------===//
//
// Random bits are Philox4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). The key is the run's seed; the counter is element
// index / 4, stream, attempt and micro-batch, each modulo 2^32, and the
// element's word is the one at index % 4. It is arithmetic on integers in the
// body of an element, and so the same bits everywhere.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Random.h"
#include "dialect/Scalars.h"
#include <cmath>

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

using Scalars = SmallVector<Value>;
using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

namespace {
/// Arithmetic on i32 scalars.
class Words {
public:
  explicit Words(ImplicitLocOpBuilder &b) : b(b) {}

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(b.getI32Type(), static_cast<int32_t>(value)));
  }
  Value exclusiveOr(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value bits(Value x, uint32_t mask) {
    return arith::AndIOp::create(b, x, constant(mask));
  }
  Value shiftRight(Value x, unsigned by) {
    return arith::ShRUIOp::create(b, x, constant(by));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value isSet(Value x, uint32_t bit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits(x, bit),
                                 constant(0));
  }
  Value truncate(Value x) {
    return x.getType().isInteger(32)
               ? x
               : Value(arith::TruncIOp::create(b, b.getI32Type(), x));
  }

private:
  ImplicitLocOpBuilder &b;
};
} // namespace

namespace {
/// Philox on i64 scalars whose lower halves count: a product is one
/// multiplication of lower halves, which vectors have, and what is above the
/// words need not be cleared.
class Philox {
public:
  explicit Philox(ImplicitLocOpBuilder &b) : b(b) {}

  Value constant(uint64_t value) {
    return arith::ConstantOp::create(
        b, b.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  Value extend(Value x) {
    return x.getType().isInteger(64)
               ? x
               : Value(arith::ExtUIOp::create(b, b.getI64Type(), x));
  }
  Value upper(Value x) { return arith::ShRUIOp::create(b, x, constant(32)); }

  using Block = std::array<Value, 4>;
  Block operator()(Block c, std::array<Value, 2> key) {
    constexpr uint64_t weyl[] = {0x9E3779B9, 0xBB67AE85};
    for (int round = 0; round < 10; ++round) {
      Value left = multiply(c[0], 0xD2511F53);
      Value right = multiply(c[2], 0xCD9E8D57);
      c = {exclusiveOr(exclusiveOr(upper(right), c[1]), key[0]), right,
           exclusiveOr(exclusiveOr(upper(left), c[3]), key[1]), left};
      for (int i = 0; i < 2; ++i)
        key[i] = arith::AddIOp::create(b, key[i], constant(weyl[i]));
    }
    return c;
  }

private:
  Value multiply(Value x, uint32_t factor) {
    Value word = arith::AndIOp::create(b, x, constant(UINT32_MAX));
    return arith::MulIOp::create(b, word, constant(factor));
  }
  Value exclusiveOr(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }

  ImplicitLocOpBuilder &b;
};
} // namespace

/// The word of the element that `scalars` belong to: behind the op's own
/// operands stand the key and the element's index.
template <typename Op>
static Value randomWord(Op op, ImplicitLocOpBuilder &b, ValueRange scalars) {
  Words w(b);
  Philox philox(b);
  Value index = scalars.back();
  ValueRange key = scalars.drop_back().take_back(op.getKey().size());
  Value four = arith::ShRUIOp::create(
      b, index,
      arith::ConstantOp::create(b, b.getIntegerAttr(index.getType(), 2)));
  auto words = philox({philox.extend(four), philox.constant(*op.getStream()),
                       key[1], key.size() > 2 ? key[2] : philox.constant(0)},
                      {key[0], philox.upper(key[0])});
  for (Value &word : words)
    word = w.truncate(word);
  Value place = w.truncate(index);
  Value odd = w.isSet(place, 1);
  return w.select(w.isSet(place, 2), w.select(odd, words[3], words[2]),
                  w.select(odd, words[1], words[0]));
}

/// The upper 24 bits of a word as a number in [0, 1).
static Value unitInterval(ImplicitLocOpBuilder &b, Value word, Type type) {
  Value whole = arith::SIToFPOp::create(b, type, Words(b).shiftRight(word, 8));
  return mul(b, whole, number(b, type, 0x1p-24));
}

//===----------------------------------------------------------------------===//
// What all ops check
//===----------------------------------------------------------------------===//

static LogicalResult verifyDraw(Operation *op, std::optional<uint64_t> stream,
                                size_t keySize) {
  if (stream && !llvm::isUInt<32>(*stream))
    return op->emitOpError() << "stream is " << static_cast<int64_t>(*stream)
                             << ", expected 0 to " << UINT32_MAX;
  if (keySize != 0 && keySize != 2 && keySize != 3)
    return op->emitOpError()
           << "key has " << keySize << (keySize == 1 ? " part" : " parts")
           << ", expected seed and attempt, and micro-batch "
              "where there are several";
  auto type = tensorType(op->getResult(0));
  constexpr int64_t most = int64_t(1) << 34; // an index / 4 has 32 bits
  if (type.hasStaticShape() && type.getNumElements() > most)
    return op->emitOpError() << "draws " << type.getNumElements()
                             << " numbers, expected at most " << most;
  return success();
}

/// Ops that draw from no stream yet are different, however equal they look: two
/// of them must not become one.
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
MP_RANDOM(UniformOp)
MP_RANDOM(NormalOp)
MP_RANDOM(BernoulliOp)
MP_RANDOM(DropoutOp)
MP_RANDOM(DropoutBackwardOp)
MP_RANDOM(StochasticRoundOp)
#undef MP_RANDOM

#define MP_INFER(OP)                                                           \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>,   \
                                     Adaptor adaptor,                          \
                                     SmallVectorImpl<Type> &types) {           \
    types.push_back(adaptor.getInput().getType());                             \
    return success();                                                          \
  }
MP_INFER(BernoulliOp)
MP_INFER(DropoutOp)
MP_INFER(DropoutBackwardOp)
#undef MP_INFER

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

/// The largest number of a type below `bound`.
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
  Value unit = unitInterval(b, randomWord(*this, b, x), type);
  Value scaled =
      add(b, number(b, type, low), mul(b, number(b, type, high - low), unit));
  // Rounding may reach `high`, unless the type has nothing else.
  double below = largestBelow(element, high);
  if (below >= low)
    scaled = arith::MinimumFOp::create(b, scaled, number(b, type, below));
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
static Value polynomial(ImplicitLocOpBuilder &b, Value x,
                        ArrayRef<double> coefficients) {
  Value sum = number(b, x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = math::FmaOp::create(b, sum, x, number(b, x, coefficient));
  return sum;
}

/// The inverse of the error function at x = 1 - q, x >= 0, as a polynomial of w
/// = -log(1 - x^2) times x, which is Giles' form ("Approximating the erfinv
/// function", GPU Computing Gems 2, 2011). The coefficients are minimax fits of
/// our own, to w = 22, where his end at 16.
static Value inverseErf(ImplicitLocOpBuilder &b, Value x, Value q) {
  Value product = mul(b, q, sub(b, number(b, q, 2), q));
  Value w = arith::NegFOp::create(b, math::LogOp::create(b, product));
  // Relative errors 2^-23.3 on w in [0, 5] and 2^-23.1 on [5, 22].
  Value centre = polynomial(b, sub(b, w, number(b, w, 2.5)),
                            {0x1.e99046p-26, 0x1.716876p-22, -0x1.d986f4p-19,
                             -0x1.27504ep-18, 0x1.ca6e34p-13, -0x1.48a5fap-10,
                             -0x1.11ca12p-8, 0x1.f91ec4p-3, 0x1.805c5ep+0});
  Value tail =
      polynomial(b, sub(b, sqrt(b, w), number(b, w, 3)),
                 {0x1.44f92p-15, -0x1.4e2948p-13, -0x1.48ae3cp-16,
                  0x1.52cd54p-10, -0x1.d47a6ep-9, 0x1.7a0f84p-8, -0x1.f550aap-8,
                  0x1.351d68p-7, 0x1.006dd4p+0, 0x1.6a9efep+1});
  Value isCentre =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, w, number(b, w, 5));
  return mul(b, arith::SelectOp::create(b, isCentre, centre, tail), x);
}

Scalars NormalOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange scalars) {
  Words words(b);
  Type f32 = b.getF32Type();
  // The word, signed, stands for x = (word + 1/2) / 2^31 in (-1, 1). With m =
  // |x| 2^31 - 1/2, both |x| and 1 - |x| are had without cancellation.
  Value word = randomWord(*this, b, scalars);
  Value sign = arith::ShRSIOp::create(b, word, words.constant(31));
  Value m = words.exclusiveOr(word, sign);
  auto centred = [&](Value whole) {
    Value real = arith::SIToFPOp::create(b, f32, whole);
    return mul(b, add(b, real, number(b, f32, 0.5)), number(b, f32, 0x1p-31));
  };
  Value x = centred(m);
  Value q = centred(words.exclusiveOr(m, words.constant(0x7fffffff)));
  Value z = mul(b, inverseErf(b, x, q), number(b, f32, std::sqrt(2.0)));
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, word,
                                         words.constant(0));
  z = arith::SelectOp::create(b, negative, arith::NegFOp::create(b, z), z);
  Type type = computeType(elementType(getResult()));
  if (type != f32)
    z = arith::ExtFOp::create(b, type, z);
  Value spread = mul(b, number(b, type, getStd().convertToDouble()), z);
  return {add(b, number(b, type, getMean().convertToDouble()), spread)};
}

//===----------------------------------------------------------------------===//
// bernoulli
//===----------------------------------------------------------------------===//

LogicalResult BernoulliOp::verify() {
  return verifyDraw(*this, getStream(), getKey().size());
}

Scalars BernoulliOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Type type = x[0].getType();
  Value unit = unitInterval(b, randomWord(*this, b, x), type);
  Value isOne = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, unit, x[0]);
  return {arith::SelectOp::create(b, isOne, number(b, type, 1),
                                  number(b, type, 0))};
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

/// x times zero or 1 / (1 - p), as torch.native_dropout.
template <typename Op>
static Value drop(Op op, ImplicitLocOpBuilder &b, ValueRange x) {
  double p = op.getP().convertToDouble();
  Type type = x[0].getType();
  // Dropped where word < p 2^32; for p = 1 that is no word.
  double bound = std::nearbyint(p * 0x1p32);
  if (bound > UINT32_MAX)
    return mul(b, x[0], number(b, type, 0));
  Value word = randomWord(op, b, x);
  Value isKept =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, word,
                            Words(b).constant(static_cast<uint32_t>(bound)));
  Value factor = arith::SelectOp::create(
      b, isKept, number(b, type, 1 / (1 - p)), number(b, type, 0));
  return mul(b, x[0], factor);
}
Scalars DropoutOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {drop(*this, b, x)};
}
Scalars DropoutBackwardOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  return {drop(*this, b, x)};
}

/// The adjoint of a diagonal matrix is itself; keys get no gradient.
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

/// What is never dropped stays.
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

/// A bf16 is the upper half of an f32: a carry out of the lower half plus 16
/// random bits rounds up. A NaN is made quiet, lest it lose all it has.
static Value roundToBF16(ImplicitLocOpBuilder &b, Value x, Value word) {
  Words w(b);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), x);
  Value carried = arith::AddIOp::create(b, bits, w.shiftRight(word, 16));
  Value quiet = arith::OrIOp::create(b, bits, w.constant(0x400000));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  Value upper = w.bits(w.select(isNan, quiet, carried), 0xffff0000);
  Value exact = arith::BitcastOp::create(b, b.getF32Type(), upper);
  return arith::TruncFOp::create(b, b.getBF16Type(), exact);
}

/// |x| in units of its last place in f16, split into the whole and the rest.
static Value roundToF16(ImplicitLocOpBuilder &b, Value x, Value word) {
  Words w(b);
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value magnitude = math::AbsFOp::create(b, x);
  // 2^e of the number, at least 2^-14; beyond 2^16 all is infinite.
  Value bits = w.bits(arith::BitcastOp::create(b, i32, magnitude), 0x7f800000);
  bits = arith::MaxSIOp::create(b, bits, w.constant((127 - 14) << 23));
  bits = arith::MinSIOp::create(b, bits, w.constant((127 + 16) << 23));
  Value unit =
      mul(b, arith::BitcastOp::create(b, f32, bits), number(b, f32, 0x1p-10));
  Value scaled = div(b, magnitude, unit);
  Value whole = math::FloorOp::create(b, scaled);
  Value rest = sub(b, scaled, whole);
  Value random = arith::SIToFPOp::create(b, f32, w.shiftRight(word, 8));
  Value isUp =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                            mul(b, random, number(b, f32, 0x1p-24)), rest);
  Value next = add(b, whole, number(b, f32, 1));
  Value rounded = mul(b, arith::SelectOp::create(b, isUp, next, whole), unit);
  Value isFinite = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OLT, magnitude,
      number(b, f32, std::numeric_limits<double>::infinity()));
  Value result = arith::SelectOp::create(b, isFinite, rounded, magnitude);
  return arith::TruncFOp::create(b, b.getF16Type(),
                                 math::CopySignOp::create(b, result, x));
}

Scalars StochasticRoundOp::buildScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Value word = randomWord(*this, b, x);
  return {elementType(getResult()).isBF16() ? roundToBF16(b, x[0], word)
                                            : roundToF16(b, x[0], word)};
}
