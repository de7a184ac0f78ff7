//===- OptimizerBounds.cpp - what an update can do at most ----------------===//
//
// Bounds on the parameters and slots that an update leaves, from bounds on
// those it finds, without reading any: docs/decisions/0008. Every bound is
// widened by `kSlack`, which is more than the roundings of the update, of the
// gradient's norm and of the bound itself.
//
//===----------------------------------------------------------------------===//
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;

static constexpr double kSlack = 1 + 0x1p-18;
/// What the squares of a gradient's elements may lose to underflow, as a value:
/// more than the root of f32's smallest number.
static constexpr double kUnderflow = 0x1p-50;

namespace {
/// f32 arithmetic on tensors that reads as formulas. A number takes the shape
/// of what it meets by broadcasting.
struct Formula {
  ImplicitLocOpBuilder &b;

  Value number(double value) {
    return splat(b, RankedTensorType::get({}, b.getF32Type()), value);
  }
  Value add(Value x, Value y) { return AddOp::create(b, x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, x, y); }
  Value mul(double x, Value y) { return mul(number(x), y); }
  Value div(Value x, Value y) { return DivOp::create(b, x, y); }
  Value max(Value x, Value y) { return MaximumOp::create(b, x, y); }
  Value abs(Value x) { return AbsOp::create(b, x); }
  Value sqrt(Value x) { return SqrtOp::create(b, x); }
  Value widen(Value x) { return mul(kSlack, x); }
};
} // namespace

/// A tensor's elements without sign, in f32.
static Value magnitude(ImplicitLocOpBuilder &b, Value x) {
  return castTo(b, AbsOp::create(b, x), b.getF32Type());
}

//===----------------------------------------------------------------------===//
// sgd
//===----------------------------------------------------------------------===//

SmallVector<std::string> SgdAttr::getMeasures() const {
  if (getSlots().empty())
    return {"magnitude"};
  return {"magnitude", "momentum_magnitude"};
}

SmallVector<Value> SgdAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                          Value parameter,
                                          ValueRange slots) const {
  SmallVector<Value> measures{magnitude(b, parameter)};
  for (Value slot : slots)
    measures.push_back(magnitude(b, slot));
  return measures;
}

/// The triangle inequality on each line of the update.
SmallVector<Value> SgdAttr::buildBounds(ImplicitLocOpBuilder &b,
                                        ValueRange bounds, Value gradientNorm,
                                        Value learningRate, Value) const {
  Formula f{b};
  double momentum = getMomentum();
  Value largest = f.add(f.widen(gradientNorm), f.number(kUnderflow));
  Value update =
      f.widen(f.add(largest, f.mul(double(getWeightDecay()), bounds[0])));
  SmallVector<Value> after(1);
  if (bounds.size() > 1) {
    double fresh = std::abs(1 - double(getDampening()));
    Value moved = f.add(f.mul(momentum, bounds[1]), f.mul(fresh, update));
    Value buffer = f.widen(f.max(update, moved));
    update = getNesterov() ? f.widen(f.add(update, f.mul(momentum, buffer)))
                           : buffer;
    after.push_back(buffer);
  }
  after[0] = f.widen(f.add(bounds[0], f.mul(f.abs(learningRate), update)));
  return after;
}

//===----------------------------------------------------------------------===//
// adamw
//===----------------------------------------------------------------------===//

// What an element moves by is its mean over the root of its variance. Call
// their ratio r = max |m| / (sqrt(v) + k), where k stands for what underflows.
// An update makes |m'| <= beta1 |m| + (1 - beta1) |g| and
// v' = beta2 v + (1 - beta2) g^2, so by Cauchy and Schwarz
//   |m'| / sqrt(v') <= sqrt(beta1^2 / beta2 r^2 + (1 - beta1)^2 / (1 - beta2)),
// whatever g is. Where beta1^2 < beta2, as in all recipes in use, that has a
// limit (7.3 for 0.9 and 0.999).
static constexpr double kRatioFloor = kUnderflow;

SmallVector<std::string> AdamWAttr::getMeasures() const {
  return {"magnitude", "moment_ratio"};
}

SmallVector<Value> AdamWAttr::buildMeasures(ImplicitLocOpBuilder &b,
                                            Value parameter,
                                            ValueRange slots) const {
  Formula f{b};
  Value mean = magnitude(b, slots[0]);
  Value deviation = f.sqrt(castTo(b, slots[1], b.getF32Type()));
  return {magnitude(b, parameter),
          f.div(mean, f.add(deviation, f.number(kRatioFloor)))};
}

SmallVector<Value> AdamWAttr::buildBounds(ImplicitLocOpBuilder &b,
                                          ValueRange bounds, Value,
                                          Value learningRate,
                                          Value step) const {
  Formula f{b};
  double beta1 = getBeta1(), beta2 = getBeta2();
  // m + (1 - beta1) (g - m) rounds as if a little more of m were kept.
  double kept = (beta1 + 0x1p-20) * (beta1 + 0x1p-20) / beta2;
  double fresh = (1 - beta1) * (1 - beta1) / (1 - beta2);
  Value ratio = f.widen(
      f.sqrt(f.add(f.mul(kept, f.mul(bounds[1], bounds[1])), f.number(fresh))));

  // (sqrt(v') + k) / (sqrt(v') / sqrt(c2) + eps) <= max(sqrt(c2), k / eps)
  Value correction1 = BiasCorrectionOp::create(b, step, APFloat(beta1));
  Value correction2 = BiasCorrectionOp::create(b, step, APFloat(beta2));
  Value rescaled =
      f.max(f.sqrt(correction2), f.number(kRatioFloor / double(getEps())));
  Value stepSize = f.div(f.abs(learningRate), correction1);
  Value moved = f.mul(stepSize, f.mul(ratio, rescaled));
  Value decay = f.mul(double(getWeightDecay()), learningRate);
  Value keep = f.add(f.abs(f.sub(f.number(1), decay)), f.number(0x1p-22));
  return {f.widen(f.add(f.mul(bounds[0], keep), moved)), ratio};
}
