//===- LintNumbers.cpp - numbers that pass the largest of their type ------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "passes/inspect/Lint.h"

using namespace mlir;
using namespace mp;

/// Whether a number becomes infinite, or NaN in a type without infinity.
static bool overflows(Interval range, FloatType type) {
  auto isBeyond = [&](double value) {
    APFloat number(value);
    bool loses;
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &loses);
    return !number.isFinite();
  };
  return isBeyond(range.low) || isBeyond(range.high);
}

static std::string endOf(FloatType type) {
  return typeName(type) + ", which ends at " +
         numberText(Interval::of(type).high);
}

void mp::lintSums(func::FuncOp function, const Ranges &assumed,
                  double magnitude, LintFindings &findings) {
  for (Operation &op : function.getBody().front()) {
    // Elementwise ops and moves do not grow with a shape.
    if (isa<ScalarOpInterface, ConstantOp>(op))
      continue;
    for (Value result : op.getResults()) {
      if (!isFloatTensor(result) || !elementType(result).isF16())
        continue;
      auto type = cast<FloatType>(elementType(result));
      Interval exact = assumed.exact(result);
      if (!exact.isFinite() || !overflows(exact, type))
        continue;
      findings.add({LintCheck::SumOverflow,
                    op.getLoc(),
                    "'" + op.getName().getStringRef().str() + "' may reach " +
                        numberText(exact.magnitude()) + " in " + endOf(type) +
                        ", with numbers of unknown size taken to be at most " +
                        numberText(magnitude) +
                        "; scale its operands down, or compute it in f32 "
                        "({mp.autocast = \"f32\"} under autocast)",
                    {}});
    }
  }
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// Returns the exponential or power of a body that exceeds the largest number
/// of a type; null if each stays below.
static Operation *findGrowth(ScalarBody &body, ScalarRanges &ranges,
                             FloatType type) {
  for (Operation &op : *body.block)
    if (isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::PowFOp>(op) &&
        overflows(ranges.get(op.getResult(0)), type))
      return &op;
  return nullptr;
}

/// Returns the op that sums a value, directly or after casts or moves, as in a
/// softmax or the logarithm of a sum.
static Operation *findSum(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto reduction = dyn_cast<ReductionOpInterface>(user);
        reduction && addsUp(reduction))
      return user;
    auto facts = dyn_cast<AutocastOpInterface>(user);
    bool isSame = isa<CastOp>(user) ||
                  (facts && facts.getNumericClass() == NumericClass::movement);
    if (isSame && user->getNumResults() == 1)
      if (Operation *sum = findSum(user->getResult(0)))
        return sum;
  }
  return nullptr;
}

static void lintExponential(ScalarOpInterface op, const Ranges &certain,
                            LintFindings &findings) {
  Value result = op->getResult(0);
  auto type = cast<FloatType>(elementType(result));
  if (!overflows(certain.exact(result), type))
    return;
  ScalarBody body(op);
  double size = 0;
  DenseMap<Value, Interval> arguments;
  for (auto [argument, operand] :
       llvm::zip(body.arguments, op->getOperands())) {
    arguments[argument] = certain.get(operand);
    size = std::max(size, certain.get(operand).magnitude());
  }
  ScalarRanges ranges(arguments, [](Value, Value) { return false; });
  Operation *growth = findGrowth(body, ranges, type);
  if (!growth)
    return;
  std::string text = "'" + op->getName().getStringRef().str() +
                     "' of numbers up to " + numberText(size) + " overflows " +
                     endOf(type);
  Operation *sum = isa<math::PowFOp>(growth) ? nullptr : findSum(result);
  if (sum)
    findings.add({LintCheck::SoftmaxOverflow,
                  op.getLoc(),
                  text + ", and is summed; subtract the largest number along "
                         "the summed dimensions first (mp.max), or take "
                         "mp.softmax or mp.logsumexp, which do",
                  {{sum->getLoc(), "summed here"}}});
  else
    findings.add({LintCheck::ExpOverflow,
                  op.getLoc(),
                  text + "; bound them before, as mp.clamp does",
                  {}});
}

void mp::lintExponentials(func::FuncOp function, const Ranges &certain,
                          LintFindings &findings) {
  for (auto op : function.getBody().front().getOps<ScalarOpInterface>())
    if (!isa<RandomOpInterface>(*op) && op->getNumResults() == 1 &&
        isFloatTensor(op->getResult(0)))
      lintExponential(op, certain, findings);
}
