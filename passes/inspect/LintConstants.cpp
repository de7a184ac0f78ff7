//===- LintConstants.cpp - constants that a narrow type loses -------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "passes/analysis/Constants.h"
#include "passes/inspect/Lint.h"
#include <cmath>

using namespace mlir;
using namespace mp;

static bool isNarrow(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() <= 16;
}

static APFloat rounded(APFloat number, FloatType type) {
  bool loses;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &loses);
  return number;
}

namespace {
/// A constant as ops see it in a narrow type.
struct NarrowConstant {
  ConstantOp constant;
  FloatType type;
  SmallVector<Operation *> users; ///< those that compute with it

  bool isCast() { return elementType(constant.getResult()) != type; }
};

/// Follows a constant through casts and moves.
class Narrowings {
public:
  explicit Narrowings(ConstantOp constant) : constant(constant) {
    follow(constant.getResult());
  }
  llvm::MapVector<Type, NarrowConstant> found;

private:
  void follow(Value value) {
    bool here = isNarrow(elementType(value));
    if (here)
      found.try_emplace(
          elementType(value),
          NarrowConstant{constant, cast<FloatType>(elementType(value)), {}});
    for (Operation *user : value.getUsers()) {
      auto facts = dyn_cast<AutocastOpInterface>(user);
      bool isMoved = facts &&
                     facts.getNumericClass() == NumericClass::movement &&
                     user->getNumOperands() == 1;
      if ((isa<CastOp>(user) && !here &&
           isa<FloatType>(elementType(user->getResult(0)))) ||
          isMoved)
        follow(user->getResult(0));
      else if (here && !user->hasTrait<OpTrait::IsTerminator>())
        found.find(elementType(value))->second.users.push_back(user);
    }
  }

  ConstantOp constant;
};

/// Returns the other operand, if an elementwise op adds the constant to one.
Value addedTo(ScalarOpInterface op, Operation *constant) {
  if (isa<RandomOpInterface>(*op) || op->getNumResults() != 1)
    return {};
  ScalarBody body(op);
  Operation *last = body.results[0].getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(last))
    return {};
  Value other;
  bool takesConstant = false;
  for (Value term : last->getOperands()) {
    const auto *argument = llvm::find(body.arguments, term);
    if (argument == body.arguments.end())
      return {};
    Value operand = op->getOperand(argument - body.arguments.begin());
    Value source = operand;
    while (Operation *from = source.getDefiningOp()) {
      if (from == constant)
        break;
      if (from->getNumOperands() != 1)
        break;
      source = from->getOperand(0);
    }
    if (source.getDefiningOp() == constant)
      takesConstant = true;
    else
      other = operand;
  }
  return takesConstant ? other : Value();
}
} // namespace

/// Returns the smallest power of two from which on a type's numbers are so far
/// apart that adding `term` does nothing.
static double lostFrom(double term, FloatType type) {
  int precision = APFloat::semanticsPrecision(type.getFloatSemantics());
  return std::ldexp(1, static_cast<int>(std::floor(std::log2(term))) + 1 +
                           precision);
}

/// Finds epsilons: a constant that is added and lost beside one. Returns
/// whether there is a finding.
static bool lintEpsilon(NarrowConstant &narrow, const Ranges &certain,
                        LintFindings &findings) {
  auto value = splatValue(narrow.constant.getValue());
  if (!value || *value == 0 || !std::isfinite(*value))
    return false;
  double term = std::abs(
      FloatAttr::getValueAsDouble(rounded(APFloat(*value), narrow.type)));
  if (term == 0)
    return false;
  double limit = lostFrom(term, narrow.type);
  bool isLost = false;
  for (Operation *user : narrow.users) {
    auto op = dyn_cast<ScalarOpInterface>(user);
    Value other = op ? addedTo(op, narrow.constant) : Value();
    if (limit > 1 || !other || certain.get(other).magnitude() < limit)
      continue;
    isLost = true;
    std::string type = typeName(narrow.type);
    findings.add({LintCheck::Epsilon,
                  user->getLoc(),
                  "constant " + numberText(*value) +
                      " is lost when it is added in " + type +
                      " to a number of " + numberText(limit) +
                      " or more; add it in f32, or take a larger one",
                  {{narrow.constant.getLoc(), "the constant"}}});
  }
  return isLost;
}

/// Returns the first element that is subnormal in a type, and its error.
static std::string whySubnormal(NarrowConstant &narrow) {
  auto elements = dyn_cast<DenseFPElementsAttr>(narrow.constant.getValue());
  if (!elements)
    return "";
  for (APFloat number : withoutCopies(elements).getValues<APFloat>()) {
    APFloat low = rounded(number, narrow.type);
    if (!low.isDenormal())
      continue;
    double exact = FloatAttr::getValueAsDouble(number);
    double value = FloatAttr::getValueAsDouble(low);
    std::string type = typeName(narrow.type);
    if (!narrow.isCast())
      return "constant " + numberText(exact) + " is subnormal in " + type +
             ", and has fewer bits than other numbers";
    return "constant " + numberText(exact) + " becomes " + numberText(value) +
           " in " + type + ", which is subnormal: " +
           numberText(100 * std::abs((value - exact) / exact)) + "% off";
  }
  return "";
}

static void lintConstant(NarrowConstant &narrow, LintFindings &findings) {
  std::string why = whyNotExact(narrow.constant, narrow.type);
  if (why.empty())
    why = whySubnormal(narrow);
  else
    why += " in " + typeName(narrow.type);
  if (why.empty())
    return;
  LintFindings::Finding finding{
      LintCheck::Constant,
      narrow.constant.getLoc(),
      why + "; take it in f32 ({mp.autocast = \"f32\"} on the op under "
            "autocast), or scale it",
      {}};
  if (!narrow.users.empty())
    finding.notes.push_back({narrow.users.front()->getLoc(), "taken here"});
  findings.add(finding);
}

void mp::lintConstants(func::FuncOp function, const Ranges &certain,
                       LintFindings &findings) {
  for (auto constant : function.getBody().front().getOps<ConstantOp>()) {
    if (!isFloatTensor(constant))
      continue;
    for (auto &[type, narrow] : Narrowings(constant).found)
      if (!lintEpsilon(narrow, certain, findings))
        lintConstant(narrow, findings);
  }
}
