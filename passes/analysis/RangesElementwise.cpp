//===- RangesElementwise.cpp - ranges of elementwise ops ------------------===//
//
// The body gives the range. Intervals cannot express that numbers minus their
// largest are not positive, and zero somewhere: this is carried beside them.
//
//===----------------------------------------------------------------------===//
#include "passes/analysis/Alone.h"
#include "passes/analysis/Ranges.h"

using namespace mlir;
using namespace mp;

bool Ranges::isAligned(Value reduced, const Extreme &extreme) {
  auto type = tensorType(extreme.of);
  ArrayRef<int64_t> shape = tensorType(reduced).getShape();
  if (extreme.isSpread && shape == type.getShape())
    return true;
  if (shape == ArrayRef(reducedShape(type, extreme.dims, true)))
    return true;
  bool areLeading = llvm::all_of(llvm::enumerate(extreme.dims), [](auto dim) {
    return dim.value() == static_cast<int64_t>(dim.index());
  });
  return areLeading &&
         shape == ArrayRef(reducedShape(type, extreme.dims, false));
}

bool Ranges::isAtLeast(Value more, Value less) const {
  auto extreme = lookup(more).extreme;
  if (extreme && extreme->of == rootOf(less) && isAligned(more, *extreme))
    return true;
  return llvm::is_contained(lookup(rootOf(more)).floors, rootOf(less));
}

/// Whether a cast changes no number.
static bool isAtLeastAsWide(Type to, Type from) {
  auto wide = dyn_cast<FloatType>(to), narrow = dyn_cast<FloatType>(from);
  return to == from || (wide && narrow &&
                        APFloat::isRepresentableBy(narrow.getFloatSemantics(),
                                                   wide.getFloatSemantics()));
}

/// The maximum of a long chain is known to be above its last values alone.
static constexpr size_t kMostFloors = 16;

void Ranges::addFloors(Value scalar, Value result,
                       const DenseMap<Value, Value> &operands) {
  if (auto maximum = scalar.getDefiningOp<arith::MaximumFOp>()) {
    addFloors(maximum.getLhs(), result, operands);
    addFloors(maximum.getRhs(), result, operands);
    return;
  }
  if (auto extend = scalar.getDefiningOp<arith::ExtFOp>())
    return addFloors(extend.getIn(), result, operands);
  Value operand = operands.lookup(scalar);
  if (!operand ||
      tensorType(operand).getShape() != tensorType(result).getShape() ||
      !isAtLeastAsWide(elementType(result), elementType(operand)))
    return;
  Value root = rootOf(operand);
  auto further = lookup(root).floors;
  auto &floors = facts[result].floors;
  floors.push_back(root);
  floors.append(further);
  if (floors.size() > kMostFloors)
    floors.truncate(kMostFloors);
}

std::optional<Ranges::Extreme>
Ranges::extremeOf(Value scalar, ScalarRanges &ranges,
                  const DenseMap<Value, Value> &operands) const {
  if (Value operand = operands.lookup(scalar)) {
    auto extreme = lookup(operand).extreme;
    if (extreme)
      extreme->isSpread = isAligned(operand, *extreme);
    return extreme;
  }
  Operation *op = scalar.getDefiningOp();
  auto of = [&](unsigned index) {
    return op->getNumOperands() > index
               ? extremeOf(op->getOperand(index), ranges, operands)
               : std::nullopt;
  };
  if (isa_and_nonnull<arith::ExtFOp>(op))
    return of(0);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    if (auto holds = ranges.decided(select.getCondition()))
      return of(*holds ? 1 : 2);
  // These are the sum with a number that is not negative, and the larger of
  // two.
  bool isSum = isa_and_nonnull<arith::AddFOp>(op);
  if (!isSum && !isa_and_nonnull<arith::MaximumFOp>(op))
    return std::nullopt;
  for (unsigned i : {0, 1})
    if (auto extreme = of(i);
        extreme && (!isSum || ranges.get(op->getOperand(1 - i)).low >= 0)) {
      extreme->isEqual = false;
      return extreme;
    }
  return std::nullopt;
}

/// Carries a known element: x minus its largest is zero somewhere, and a
/// function of that has its value at zero there.
void Ranges::carryAttained(ScalarOpInterface op, const ScalarBody &body,
                           const DenseMap<Value, Value> &operands) {
  if (body.results.size() != 1)
    return;
  Value result = op->getResult(0);
  if (auto sub = body.results[0].getDefiningOp<arith::SubFOp>()) {
    Value less = operands.lookup(sub.getLhs());
    Value more = operands.lookup(sub.getRhs());
    if (less && more && isAtLeast(more, less))
      if (auto extreme = lookup(more).extreme; extreme->isEqual)
        facts[result].attained = Attained{extreme->dims, Interval::point(0)};
    return;
  }
  for (auto [argument, operand] : operands) {
    auto attained = lookup(operand).attained;
    if (!attained ||
        tensorType(operand).getShape() != tensorType(result).getShape())
      continue;
    DenseMap<Value, Interval> arguments;
    for (auto [other, value] : operands)
      arguments[other] = get(value);
    arguments[argument] = attained->range;
    ScalarRanges ranges(arguments, [](Value, Value) { return false; });
    facts[result].attained =
        Attained{attained->dims, ranges.get(body.results[0])};
    return;
  }
}

/// Whether there is a divisor that may be small, and that then decides.
static bool dividesBySmall(const ScalarBody &body, ScalarRanges &ranges) {
  return llvm::any_of(*body.block, [&](Operation &op) {
    if (!isa<math::RsqrtOp, arith::DivFOp>(op))
      return false;
    Interval divisor = ranges.get(op.getOperands().back());
    return !divisor.isPoint() && divisor.low < 1 && divisor.high > -1;
  });
}

void Ranges::visitElementwise(ScalarOpInterface op) {
  // Random ops draw their bits by attributes that they get later.
  std::optional<Alone> alone;
  ScalarOpInterface asked = op;
  if (isa<RandomOpInterface>(*op))
    asked = cast<ScalarOpInterface>(alone.emplace(op, 1).copy);
  ScalarBody body(asked);
  DenseMap<Value, Value> operands;
  DenseMap<Value, Interval> arguments;
  for (auto [argument, operand] :
       llvm::zip(body.arguments, op->getOperands())) {
    operands[argument] = operand;
    arguments[argument] = get(operand);
  }
  auto isAtLeast = [&](Value more, Value less) {
    Value m = operands.lookup(more), l = operands.lookup(less);
    return m && l && this->isAtLeast(m, l);
  };
  ScalarRanges ranges(arguments, isAtLeast);
  bool isSmall = dividesBySmall(body, ranges);
  for (auto [result, scalar] :
       llvm::zip_equal(op->getResults(), body.results)) {
    Interval exact = ranges.get(scalar);
    Facts &known = set(result, exact);
    if (certain && isSmall)
      known.range = known.range.clip(
          certain->get(result).clip(ofUnknown(elementType(result))));
    known.extreme = extremeOf(scalar, ranges, operands);
    if (scalar.getDefiningOp<arith::MaximumFOp>())
      addFloors(scalar, result, operands);
    Value same = scalar;
    if (auto extend = same.getDefiningOp<arith::ExtFOp>())
      same = extend.getIn();
    if (Value operand = operands.lookup(same);
        operand &&
        tensorType(operand).getShape() == tensorType(result).getShape() &&
        isAtLeastAsWide(elementType(result), elementType(operand)))
      known.root = rootOf(operand);
  }
  carryAttained(op, body, operands);
}
