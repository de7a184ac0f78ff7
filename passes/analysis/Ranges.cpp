//===- Ranges.cpp - how large the numbers of a graph may be ---------------===//
#include "passes/analysis/Ranges.h"
#include "dialect/ContractionRules.h"
#include "dialect/Expression.h"
#include "dialect/ops/Constant.h"
#include "passes/analysis/Alone.h"
#include "passes/analysis/Constants.h"
#include <cmath>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// What is not known
//===----------------------------------------------------------------------===//

/// Ends at which a type's numbers end say nothing about a value of it, but of
/// pixels and flags.
Interval Ranges::assume(Interval range, Type element) const {
  if (!assumed)
    return range;
  Interval all = Interval::of(element);
  if (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() <= 8)
    return range;
  double most = std::min(*assumed, all.high);
  double low = range.low <= all.low ? std::min(-most, range.high) : range.low;
  double high = range.high >= all.high ? std::max(most, low) : range.high;
  return {low, high};
}

Interval Ranges::ofUnknown(Type element) const {
  return assume(Interval::of(element), element);
}

/// What is left when a number is rounded: overflow is told once, not by
/// everything that follows.
Interval Ranges::settle(Interval exact, Type element) const {
  Interval all = Interval::of(element);
  Interval range = exact.clip(all);
  if (!assumed)
    return range;
  Interval unknown = ofUnknown(element);
  if (exact.low == -Interval::infinity)
    range.low = std::min(unknown.low, range.high);
  if (exact.high == Interval::infinity)
    range.high = std::max(unknown.high, range.low);
  return range;
}

Ranges::Facts &Ranges::set(Value value, Interval exact) {
  Facts &known = facts[value];
  known.exact = exact;
  known.range = settle(exact, elementType(value));
  known.root = value;
  return known;
}

/// Bounds of sums of products and of normalized numbers are so loose that one
/// layer's would drown those of the next.
void Ranges::setLoose(Value value, Interval exact) {
  Facts &known = set(value, exact);
  if (certain)
    known.range =
        known.range.clip(assume(certain->get(value), elementType(value)));
}

Ranges::Facts Ranges::lookup(Value value) const {
  auto found = facts.find(value);
  if (found != facts.end())
    return found->second;
  Interval range;
  if (isa<RankedTensorType>(value.getType()))
    range = ofUnknown(elementType(value));
  return {range, range, value, std::nullopt, std::nullopt};
}

Interval Ranges::get(Value value) const { return lookup(value).range; }
Interval Ranges::exact(Value value) const { return lookup(value).exact; }
Value Ranges::rootOf(Value value) const { return lookup(value).root; }

//===----------------------------------------------------------------------===//
// The sweep
//===----------------------------------------------------------------------===//

void Ranges::bound(Value input, Interval range) {
  facts[input] = {range, range, input, std::nullopt, std::nullopt};
}

void Ranges::run(Block &block) {
  for (Operation &op : block)
    if (llvm::all_of(op.getResultTypes(),
                     [](Type type) { return isa<RankedTensorType>(type); }))
      visit(&op);
}

void Ranges::visit(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return visitConstant(constant);
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return visitReduction(reduction);
  if (auto scalar = dyn_cast<ScalarOpInterface>(op))
    return visitElementwise(scalar);
  auto facts = dyn_cast<AutocastOpInterface>(op);
  NumericClass kind = facts ? facts.getNumericClass() : NumericClass::none;
  if (kind == NumericClass::movement && op->getNumResults() == 1)
    return visitMovement(facts);
  if (auto anchor = dyn_cast<AnchorOpInterface>(op);
      anchor && kind == NumericClass::contraction)
    return visitContraction(anchor);
  else if (anchor && kind == NumericClass::reduction)
    return visitWindows(anchor);
  if (auto composite = dyn_cast<DecomposableOpInterface>(op))
    return visitComposite(composite);
}

void Ranges::visitConstant(ConstantOp op) {
  auto elements = withoutCopies(dyn_cast<DenseElementsAttr>(op.getValue()));
  if (!elements || elements.empty())
    return;
  Interval range{Interval::infinity, -Interval::infinity};
  auto add = [&](double value) { range = range.hull(Interval::point(value)); };
  if (isa<FloatType>(elements.getElementType())) {
    for (APFloat number : elements.getValues<APFloat>())
      if (!number.isNaN())
        add(FloatAttr::getValueAsDouble(number));
  } else {
    bool isSigned = !elements.getElementType().isUnsignedInteger() &&
                    !elements.getElementType().isInteger(1);
    for (APInt number : elements.getValues<APInt>())
      add(number.roundToDouble(isSigned));
  }
  // Infinities that stand in the graph are meant.
  set(op, range).range = range;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// What a combiner makes of two numbers.
struct Combiner {
  Block block;
  Value accumulator, element, result;

  explicit Combiner(ReductionOpInterface op) {
    ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
    builder.setInsertionPointToStart(&block);
    Type type = computeType(elementType(op->getOperand(0)));
    accumulator = block.addArgument(type, op.getLoc());
    element = block.addArgument(type, op.getLoc());
    result = op.buildCombiner(builder, accumulator, element);
  }
  bool adds() const {
    return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(
        result.getDefiningOp());
  }
  bool takesLargest() const {
    return isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(
        result.getDefiningOp());
  }
};
} // namespace

SmallVector<int64_t> mp::reducedShape(RankedTensorType type,
                                      ArrayRef<int64_t> dims, bool keep) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (keep)
      shape.push_back(1);
  return shape;
}

bool mp::addsUp(ReductionOpInterface op) { return Combiner(op).adds(); }

static std::optional<int64_t> extentOf(RankedTensorType type,
                                       ArrayRef<int64_t> dims) {
  int64_t extent = 1;
  for (int64_t dim : dims) {
    if (type.isDynamicDim(dim))
      return std::nullopt;
    extent *= type.getDimSize(dim);
  }
  return extent;
}

void Ranges::visitReduction(ReductionOpInterface op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  Combiner combiner(op);
  Facts term = lookup(input);
  if (combiner.adds()) {
    Interval exact =
        sumOf(term.range, extentOf(tensorType(input), op.getDims()));
    bool isHere =
        term.attained && llvm::all_of(term.attained->dims, [&](int64_t dim) {
          return llvm::is_contained(op.getDims(), dim);
        });
    if (isHere && term.range.low >= 0)
      exact.low = std::max(exact.low, term.attained->range.low);
    set(result, exact);
    return;
  }
  ScalarRanges ranges(
      {{combiner.accumulator, term.range}, {combiner.element, term.range}},
      [](Value, Value) { return false; });
  // What two of them combine to is one of them, and so with all.
  if (!term.range.contains(ranges.get(combiner.result))) {
    set(result, {});
    return;
  }
  Facts &known = set(result, term.range);
  if (combiner.takesLargest())
    known.extreme =
        Extreme{term.root, llvm::to_vector(op.getDims()), /*isEqual=*/true};
}

//===----------------------------------------------------------------------===//
// Movement and contractions
//===----------------------------------------------------------------------===//

/// Elements of the operands that have the result's type, or sums of some.
std::optional<Interval> Ranges::movedInto(Value result) {
  Operation *op = result.getDefiningOp();
  std::optional<Interval> hull;
  for (Value operand : op->getOperands())
    if (elementType(operand) == elementType(result))
      hull = hull ? hull->hull(get(operand)) : get(operand);
  auto anchor = dyn_cast<AnchorOpInterface>(op);
  if (!hull || !anchor)
    return hull;
  Interval exact = *hull;
  auto terms = anchor.getTermCount();
  // A sum of some of the terms, or of all.
  if (terms != 1)
    exact = hull->hull(sumOf(*hull, terms));
  if (auto fill = anchor.getFill())
    exact = exact.hull(Interval::point(*fill));
  return exact;
}

/// What is taken of windows is not where its elements were: no extreme stays
/// one.
void Ranges::visitWindows(AnchorOpInterface op) {
  if (auto exact = movedInto(op->getResult(0)))
    set(op->getResult(0), *exact);
}

void Ranges::visitMovement(AutocastOpInterface op) {
  Value result = op->getResult(0);
  auto exact = movedInto(result);
  if (!exact)
    return;
  Facts &known = set(result, *exact);
  if (op->getNumOperands() != 1)
    return;
  // Reshapes between a reduction's two forms.
  auto extreme = lookup(op->getOperand(0)).extreme;
  if (!extreme)
    return;
  ArrayRef<int64_t> shape = tensorType(result).getShape();
  auto type = tensorType(extreme->of);
  for (bool keep : {true, false})
    if (shape == ArrayRef(reducedShape(type, extreme->dims, keep)))
      known.extreme = Extreme{extreme->of, extreme->dims, extreme->isEqual};
}

void Ranges::visitContraction(AnchorOpInterface op) {
  if (auto attention = dyn_cast<ScaledDotProductAttentionOp>(*op))
    return visitAttention(attention);
  if (!isProduct(cast<AutocastOpInterface>(*op)))
    return;
  Interval exact =
      sumOf(get(op->getOperand(0)) * get(op->getOperand(1)), op.getTermCount());
  for (Value added : op->getOperands().drop_front(2))
    exact = exact + get(added);
  setLoose(op->getResult(0), exact);
}

/// A mean of values, or of zeros and values that a dropout has scaled.
void Ranges::visitAttention(ScaledDotProductAttentionOp op) {
  double p = op.getDropoutP() ? op.getDropoutP()->convertToDouble() : 0;
  Interval values = get(op.getValue());
  if (p < 1)
    values = values * Interval::point(1 / (1 - p));
  setLoose(op.getResult(), values.hull(Interval::point(0)));
}

//===----------------------------------------------------------------------===//
// Composite ops
//===----------------------------------------------------------------------===//

SmallVector<Ranges::Facts> Ranges::compose(DecomposableOpInterface op,
                                           int64_t batch) {
  Alone alone(op, batch);
  ImplicitLocOpBuilder builder = alone.builder();
  SmallVector<Value> operands;
  for (Value operand : alone.copy->getOperands())
    operands.push_back(Expression(builder, operand).wide());
  auto copy = cast<DecomposableOpInterface>(alone.copy);
  SmallVector<Value> results = copy.decompose(builder, operands);
  alone.copy->erase();
  Ranges inner, sure;
  inner.assumed = assumed;
  auto seed = [&](Ranges &ranges, const Ranges &from) {
    for (auto [operand, argument] : alone.arguments) {
      ranges.bound(argument, from.get(operand));
    }
    ranges.run(*alone.block);
  };
  if (certain) {
    seed(sure, *certain);
    inner.certain = &sure;
  }
  seed(inner, *this);
  DenseMap<Value, Value> outer;
  for (auto [operand, argument] : alone.arguments)
    outer[argument] = rootOf(operand);
  SmallVector<Facts> found;
  for (Value result : results) {
    Facts known = inner.lookup(result);
    known.root = Value();
    known.floors.clear(); // they are of the composite's own graph
    if (known.extreme && !(known.extreme->of = outer.lookup(known.extreme->of)))
      known.extreme.reset();
    found.push_back(known);
  }
  return found;
}

void Ranges::visitComposite(DecomposableOpInterface op) {
  auto isDynamic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !type.hasStaticShape();
  };
  SmallVector<Facts> found = compose(op, 2);
  // A bound that hangs on the batch is none.
  if (llvm::any_of(op->getOperands(), isDynamic))
    for (auto [one, other] : llvm::zip_equal(found, compose(op, 3))) {
      if (one.exact.low != other.exact.low)
        one.exact.low = -Interval::infinity;
      if (one.exact.high != other.exact.high)
        one.exact.high = Interval::infinity;
      if (!(one.range == other.range))
        one.range = {};
    }
  for (auto [result, known] : llvm::zip_equal(op->getResults(), found)) {
    setLoose(result, known.exact);
    facts[result].range = facts[result].range.clip(known.range);
    facts[result].extreme = known.extreme;
    facts[result].attained = known.attained;
  }
}
