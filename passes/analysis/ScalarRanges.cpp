//===- ScalarRanges.cpp - interval arithmetic on bodies of ops ------------===//
//
// Rounding is left out: a bound may be short by a few units in the last place.
//
//===----------------------------------------------------------------------===//
#include "passes/analysis/ScalarRanges.h"
#include "dialect/Accuracy.h"
#include <cmath>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Interval
//===----------------------------------------------------------------------===//

Interval Interval::of(Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    double largest =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    return {-largest, largest};
  }
  auto type = dyn_cast<IntegerType>(element);
  if (!type)
    return {};
  if (type.getWidth() == 1)
    return {0, 1};
  double half = std::ldexp(1, type.getWidth() - 1);
  return type.isUnsigned() ? Interval{0, 2 * half - 1}
                           : Interval{-half, half - 1};
}

double Interval::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

Interval Interval::hull(Interval other) const {
  return {std::min(low, other.low), std::max(high, other.high)};
}

Interval Interval::clip(Interval other) const {
  return {std::clamp(low, other.low, other.high),
          std::clamp(high, other.low, other.high)};
}

/// Bounds that are NaN, as of inf - inf, tell nothing.
static Interval checked(double low, double high) {
  return {std::isnan(low) ? -Interval::infinity : low,
          std::isnan(high) ? Interval::infinity : high};
}

Interval mp::operator+(Interval lhs, Interval rhs) {
  return checked(lhs.low + rhs.low, lhs.high + rhs.high);
}

Interval mp::operator-(Interval range) { return {-range.high, -range.low}; }

/// Returns the range of a function of two numbers that is largest and smallest
/// at corners of their ranges.
static Interval fromCorners(Interval x, Interval y,
                            function_ref<double(double, double)> function) {
  Interval range{Interval::infinity, -Interval::infinity};
  for (double a : {x.low, x.high})
    for (double b : {y.low, y.high}) {
      double value = function(a, b);
      if (std::isnan(value))
        return {};
      range = range.hull(Interval::point(value));
    }
  return range;
}

Interval mp::operator*(Interval lhs, Interval rhs) {
  return fromCorners(lhs, rhs, [](double x, double y) {
    return x == 0 || y == 0 ? 0 : x * y;
  });
}

static Interval quotient(Interval lhs, Interval rhs) {
  if (rhs.low < 0 && rhs.high > 0)
    return {};
  Interval inverse{rhs.high == 0 ? -Interval::infinity : 1 / rhs.high,
                   rhs.low == 0 ? Interval::infinity : 1 / rhs.low};
  return lhs * inverse;
}

Interval mp::sumOf(Interval term, std::optional<int64_t> count) {
  if (count)
    return term * Interval::point(static_cast<double>(*count));
  return term * Interval{0, Interval::infinity};
}

//===----------------------------------------------------------------------===//
// ScalarBody
//===----------------------------------------------------------------------===//

ScalarBody::ScalarBody(ScalarOpInterface op)
    : block(std::make_unique<Block>()) {
  ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
  builder.setInsertionPointToStart(block.get());
  DenseMap<Value, Value> shared;
  for (Value operand : op->getOperands()) {
    Value &argument = shared[operand];
    if (!argument)
      argument =
          block->addArgument(computeType(elementType(operand)), op.getLoc());
    arguments.push_back(argument);
  }
  SmallVector<Value> scalars = arguments;
  if (op.takesIndex())
    scalars.push_back(block->addArgument(builder.getI64Type(), op.getLoc()));
  results = op.buildScalars(builder, scalars);
}

//===----------------------------------------------------------------------===//
// ScalarRanges
//===----------------------------------------------------------------------===//

Interval ScalarRanges::get(Value scalar) {
  if (auto found = pinned.find(scalar); found != pinned.end())
    return found->second;
  if (auto found = known.find(scalar); found != known.end())
    return found->second;
  Interval range = scalar.getDefiningOp() ? compute(scalar.getDefiningOp())
                                          : Interval::of(scalar.getType());
  return known[scalar] = range;
}

std::optional<bool> ScalarRanges::decided(Value flag) {
  Interval range = get(flag);
  return range.isPoint() ? std::optional(range.low != 0) : std::nullopt;
}

/// An integer without a sign may be read with or without one.
static Interval anything(Type type) {
  if (isa<FloatType>(type))
    return {};
  if (!isa<IntegerType>(type) || type.isInteger(1))
    return {0, 1};
  double half = std::ldexp(1, type.getIntOrFloatBitWidth() - 1);
  return {-half, 2 * half - 1};
}

Interval ScalarRanges::compute(Operation *op) {
  if (op->getNumResults() != 1)
    return {};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return Interval::point(number.getValueAsDouble());
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return Interval::point(number.getType().isInteger(1)
                                 ? number.getValue().getZExtValue()
                                 : number.getValue().roundToDouble(true));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return this->select(select);
  if (auto range = computeFloat(op))
    return *range;
  if (auto range = computeMath(op))
    return *range;
  Interval all = anything(op->getResult(0).getType());
  if (auto range = computeInteger(op); range && all.contains(*range))
    return *range;
  return all;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {
enum class Relation { less, lessEqual, equal, unequal };
/// x RELATION y, for a comparison of numbers.
struct Compared {
  Relation relation;
  Value x, y;
};
} // namespace

static std::optional<Compared> comparison(Value flag) {
  if (auto compare = flag.getDefiningOp<arith::CmpFOp>()) {
    using P = arith::CmpFPredicate;
    Value x = compare.getLhs(), y = compare.getRhs();
    switch (compare.getPredicate()) {
    case P::OLT:
    case P::ULT:
      return Compared{Relation::less, x, y};
    case P::OLE:
    case P::ULE:
      return Compared{Relation::lessEqual, x, y};
    case P::OGT:
    case P::UGT:
      return Compared{Relation::less, y, x};
    case P::OGE:
    case P::UGE:
      return Compared{Relation::lessEqual, y, x};
    case P::OEQ:
    case P::UEQ:
      return Compared{Relation::equal, x, y};
    case P::ONE:
    case P::UNE:
      return Compared{Relation::unequal, x, y};
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

static std::optional<bool> holds(Relation relation, Interval x, Interval y,
                                 bool isSame) {
  switch (relation) {
  case Relation::less:
    if (x.high < y.low)
      return true;
    return isSame || x.low >= y.high ? std::optional(false) : std::nullopt;
  case Relation::lessEqual:
    if (isSame || x.high <= y.low)
      return true;
    return x.low > y.high ? std::optional(false) : std::nullopt;
  case Relation::equal:
    if (isSame || (x.isPoint() && x == y))
      return true;
    return x.high < y.low || y.high < x.low ? std::optional(false)
                                            : std::nullopt;
  case Relation::unequal:
    if (auto equal = holds(Relation::equal, x, y, isSame))
      return !*equal;
    return std::nullopt;
  }
  llvm_unreachable("all relations covered");
}

Interval ScalarRanges::under(Value condition, bool holds, Value branch) {
  auto compared = comparison(condition);
  if (!compared || compared->relation == Relation::unequal ||
      (compared->relation == Relation::equal && !holds))
    return get(branch);
  Interval x = get(compared->x), y = get(compared->y);
  ScalarRanges narrowed(pinned, isAtLeast);
  if (compared->relation == Relation::equal) {
    narrowed.pinned[compared->x] = narrowed.pinned[compared->y] = x.clip(y);
    return narrowed.get(branch);
  }
  if (!holds) // x >= y
    std::swap(x, y);
  Value less = holds ? compared->x : compared->y;
  Value more = holds ? compared->y : compared->x;
  narrowed.pinned[less] = {std::min(x.low, y.high), std::min(x.high, y.high)};
  narrowed.pinned[more] = {std::max(y.low, x.low), std::max(y.high, x.low)};
  return narrowed.get(branch);
}

Interval ScalarRanges::select(arith::SelectOp op) {
  Value condition = op.getCondition();
  auto known = decided(condition);
  if (known)
    return get(*known ? op.getTrueValue() : op.getFalseValue());
  return under(condition, true, op.getTrueValue())
      .hull(under(condition, false, op.getFalseValue()));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

std::optional<Interval> ScalarRanges::computeFloat(Operation *op) {
  auto first = [&] { return operand(op, 0); };
  auto second = [&] { return operand(op, 1); };
  bool isSame =
      op->getNumOperands() == 2 && op->getOperand(0) == op->getOperand(1);
  if (isa<arith::AddFOp>(op))
    return first() + second();
  if (isa<arith::SubFOp>(op)) {
    if (isSame)
      return Interval::point(0);
    Interval difference = first() + -second();
    if (isAtLeast(op->getOperand(1), op->getOperand(0)))
      difference = difference.clip({-Interval::infinity, 0});
    return difference;
  }
  if (isa<arith::MulFOp>(op)) {
    Interval product = first() * second();
    return isSame ? product.clip({0, Interval::infinity}) : product;
  }
  if (isa<arith::DivFOp>(op))
    return quotient(first(), second());
  if (isa<arith::NegFOp>(op))
    return -first();
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return Interval{std::max(first().low, second().low),
                    std::max(first().high, second().high)};
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return Interval{std::min(first().low, second().low),
                    std::min(first().high, second().high)};
  if (isa<arith::TruncFOp, arith::ExtFOp>(op))
    return first();
  if (isa<arith::SIToFPOp>(op) ||
      (isa<arith::UIToFPOp>(op) && first().low >= 0))
    return first();
  if (isa<arith::UIToFPOp>(op))
    return Interval{
        0, std::ldexp(1, op->getOperand(0).getType().getIntOrFloatBitWidth())};
  if (isa<arith::CmpFOp>(op)) {
    auto compared = comparison(op->getResult(0));
    auto answer = compared ? holds(compared->relation, get(compared->x),
                                   get(compared->y), isSame)
                           : std::nullopt;
    return answer ? Interval::point(*answer) : Interval{0, 1};
  }
  return std::nullopt;
}

std::optional<Interval> ScalarRanges::computeInteger(Operation *op) {
  auto first = [&] { return operand(op, 0); };
  auto second = [&] { return operand(op, 1); };
  if (isa<arith::AddIOp>(op))
    return first() + second();
  if (isa<arith::SubIOp>(op))
    return first() + -second();
  if (isa<arith::MulIOp>(op))
    return first() * second();
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) &&
      first().low >= 0)
    return first(); // the caller reports what does not fit
  if (isa<arith::ExtSIOp>(op) && !op->getOperand(0).getType().isInteger(1))
    return first();
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return Interval{std::trunc(first().low), std::trunc(first().high)};
  if (isa<arith::AndIOp>(op) && (first().low >= 0 || second().low >= 0))
    return Interval{0, first().low < 0 ? second().high
                       : second().low < 0
                           ? first().high
                           : std::min(first().high, second().high)};
  if (isa<arith::ShRUIOp>(op) && second().isPoint()) {
    double all =
        std::ldexp(1, op->getOperand(0).getType().getIntOrFloatBitWidth()) - 1;
    double high = first().low >= 0 ? first().high : all;
    return Interval{0, std::floor(std::ldexp(high, -second().low))};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Returns the range of a function that never falls; below its domain it is
/// NaN.
static Interval rising(Interval x, double domain, double (*function)(double)) {
  return checked(function(std::max(x.low, domain)),
                 function(std::max(x.high, domain)));
}

static Interval power(Interval x, Interval y) {
  auto pow = [](double x, double y) { return std::pow(x, y); };
  if (x.low >= 0)
    return fromCorners(x, y, pow);
  double size = fromCorners({0, x.magnitude()}, y, pow).high;
  return {-size, size};
}

std::optional<Interval> ScalarRanges::computeMath(Operation *op) {
  constexpr double all = -Interval::infinity;
  using Function = double (*)(double);
  auto rises = [&](double domain, Function function) {
    return rising(operand(op, 0), domain, function);
  };
  if (isa<math::AbsFOp>(op)) {
    Interval x = operand(op, 0);
    bool hasZero = x.low <= 0 && x.high >= 0;
    return Interval{hasZero ? 0 : std::min(std::abs(x.low), std::abs(x.high)),
                    x.magnitude()};
  }
  if (isa<math::ExpOp>(op))
    return rises(all, std::exp);
  // The argument of exp2For is at most 0, which bounds of a polynomial's terms
  // do not tell.
  if (isa<math::Exp2Op>(op) && op->hasAttr(kRoundsToAttr))
    return Interval{0, 1};
  if (isa<math::Exp2Op>(op))
    return rises(all, std::exp2);
  if (isa<math::ExpM1Op>(op))
    return rises(all, std::expm1);
  if (isa<math::LogOp>(op))
    return rises(0, std::log);
  if (isa<math::Log2Op>(op))
    return rises(0, std::log2);
  if (isa<math::Log1pOp>(op))
    return rises(-1, std::log1p);
  if (isa<math::SqrtOp>(op))
    return rises(0, std::sqrt);
  if (isa<math::RsqrtOp>(op))
    return quotient(Interval::point(1), rises(0, std::sqrt));
  if (isa<math::TanhOp>(op))
    return rises(all, std::tanh);
  if (isa<math::ErfOp>(op))
    return rises(all, std::erf);
  if (isa<math::FloorOp>(op))
    return rises(all, std::floor);
  if (isa<math::CeilOp>(op))
    return rises(all, std::ceil);
  if (isa<math::SinOp, math::CosOp>(op))
    return Interval{-1, 1};
  if (isa<math::PowFOp>(op))
    return power(operand(op, 0), operand(op, 1));
  return std::nullopt;
}
