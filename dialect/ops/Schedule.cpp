//===- Schedule.cpp - schedules of the learning rate ----------------------===//
//
// The closed forms of torch.optim.lr_scheduler as factors of the base rate,
// computed in f64 as in PyTorch.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Schedule.h"
#include "dialect/Expression.h"
#include "dialect/Fields.h"
#include <numbers>

using namespace mlir;
using namespace mp;

static Expression toReal(Expression count) {
  return count.to(count.builder().getF64Type());
}
/// min(t, steps) / steps.
static Expression share(Expression applied, int64_t steps) {
  return toReal(min(applied, steps)) / steps;
}
/// from + (to - from) x
static Expression between(double from, double to, Expression x) {
  return from + (to - from) * x;
}

/// The given length, or else the run's; 0 after an error.
static int64_t chooseLength(function_ref<InFlightDiagnostic()> emitError,
                            StringRef schedule, int64_t stated,
                            int64_t totalSteps) {
  if (stated > 0)
    return stated;
  if (totalSteps <= 0)
    emitError() << "a " << schedule
                << " schedule needs a length: give it `steps`, or the run "
                   "`total-steps`";
  return std::max<int64_t>(totalSteps, 0);
}

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

bool ConstantScheduleAttr::isConstant() const { return true; }
Value ConstantScheduleAttr::buildFactor(ImplicitLocOpBuilder &b, Value) const {
  return Expression::constant(b, b.getF64Type(), 1);
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

FailureOr<Attribute>
LinearScheduleAttr::withLength(function_ref<InFlightDiagnostic()> emitError,
                               int64_t totalSteps) const {
  int64_t steps = chooseLength(emitError, "linear", getSteps(), totalSteps);
  if (!steps)
    return failure();
  return Attribute(get(getContext(), getFrom(), getTo(), steps));
}
Value LinearScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                      Value applied) const {
  return between(getFrom(), getTo(), share({b, applied}, getSteps()));
}

//===----------------------------------------------------------------------===//
// step
//===----------------------------------------------------------------------===//

Value StepScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                    Value applied) const {
  return pow(getGamma(), toReal(Expression(b, applied) / getStepSize()));
}

//===----------------------------------------------------------------------===//
// exponential
//===----------------------------------------------------------------------===//

Value ExponentialScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                           Value applied) const {
  return pow(getGamma(), toReal({b, applied}));
}

//===----------------------------------------------------------------------===//
// cosine
//===----------------------------------------------------------------------===//

FailureOr<Attribute>
CosineScheduleAttr::withLength(function_ref<InFlightDiagnostic()> emitError,
                               int64_t totalSteps) const {
  int64_t steps = chooseLength(emitError, "cosine", getSteps(), totalSteps);
  if (!steps)
    return failure();
  return Attribute(get(getContext(), getTo(), steps));
}
/// cos(pi x), within 2^-51. CUDA's own cosine of an f64 takes any argument, and
/// has a table on the stack for large ones.
static Expression cosPi(Expression x) {
  // cos(pi x) = -cos(pi d), where d is the distance from the middle of a
  // period.
  Expression d = abs(x - 2 * floor(0.5 * x) - 1);
  Expression isFar = d > 0.5;
  Expression rest = std::numbers::pi * select(isFar, 1 - d, d);
  Expression square = rest * rest, sum = x.number(1);
  constexpr int terms = 11; // of Taylor's series, for a rest up to pi / 2
  for (int i = 2 * terms; i > 0; i -= 2)
    sum = 1 - (1.0 / (i * (i - 1))) * square * sum;
  return select(isFar, sum, -sum);
}

Value CosineScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                      Value applied) const {
  Expression wave = 1 + cosPi(toReal({b, applied}) / getSteps());
  return between(getTo(), 1, 0.5 * wave);
}

//===----------------------------------------------------------------------===//
// polynomial
//===----------------------------------------------------------------------===//

FailureOr<Attribute>
PolynomialScheduleAttr::withLength(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t totalSteps) const {
  int64_t steps = chooseLength(emitError, "polynomial", getSteps(), totalSteps);
  if (!steps)
    return failure();
  return Attribute(get(getContext(), getPower(), steps));
}
Value PolynomialScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                          Value applied) const {
  return pow(1 - share({b, applied}, getSteps()), getPower());
}

//===----------------------------------------------------------------------===//
// inverse_sqrt
//===----------------------------------------------------------------------===//

Value InverseSqrtScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                           Value applied) const {
  Expression step = toReal({b, applied}), scale = step.number(getTimescale());
  return sqrt(scale / (step + scale));
}

//===----------------------------------------------------------------------===//
// warmup
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kWarmup[] = {{"steps", kRequired, Domain::Length},
                                        {"from", 0, Domain::NotNegative}};

Attribute WarmupScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc where = parser.getCurrentLocation();
  auto emit = [&] { return parser.emitError(where); };
  Attribute then = ConstantScheduleAttr::get(parser.getContext());
  NestedField nested{"then", then};
  auto values = parseFieldValues(parser, kWarmup, &nested);
  if (failed(values))
    return {};
  auto schedule = dyn_cast<ScheduleAttrInterface>(then);
  if (!schedule) {
    emit() << "then is " << then
           << ", expected a schedule, such as #mp.cosine<steps = 1000>";
    return {};
  }
  return getChecked(function_ref<InFlightDiagnostic()>(emit),
                    parser.getContext(), int64_t((*values)[0]),
                    Number((*values)[1]), schedule);
}
void WarmupScheduleAttr::print(AsmPrinter &printer) const {
  bool stays = isa<ConstantScheduleAttr>(getThen());
  printFields(printer, kWarmup, {double(getSteps()), getFrom()}, "then",
              stays ? Attribute() : Attribute(getThen()));
}
LogicalResult
WarmupScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           int64_t steps, Number from, ScheduleAttrInterface) {
  return verifyFields(emitError, kWarmup, {double(steps), from});
}
FailureOr<Attribute>
WarmupScheduleAttr::withLength(function_ref<InFlightDiagnostic()> emitError,
                               int64_t totalSteps) const {
  // The second schedule needs a length even if the run ends in the warm-up.
  int64_t left = totalSteps ? std::max<int64_t>(totalSteps - getSteps(), 1) : 0;
  auto then = getThen().withLength(emitError, left);
  if (failed(then))
    return failure();
  return Attribute(get(getContext(), getSteps(), getFrom(),
                       cast<ScheduleAttrInterface>(*then)));
}
Value WarmupScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                      Value applied) const {
  Expression step(b, applied), steps = step.number(getSteps());
  Expression rising = between(getFrom(), 1, share(step, getSteps()));
  Expression after = max(step - steps, 0);
  return select(step < steps, rising, {b, getThen().buildFactor(b, after)});
}

//===----------------------------------------------------------------------===//
// The factor of a step
//===----------------------------------------------------------------------===//

LogicalResult ScheduleOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>, Adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, Float32Type::get(context)));
  return success();
}

LogicalResult ScheduleOp::verify() {
  return success(
      succeeded(getSchedule().withLength([&] { return emitOpError(); }, 0)));
}

SmallVector<Value> ScheduleOp::buildScalars(ImplicitLocOpBuilder &b,
                                            ValueRange x) {
  Expression factor(b, getSchedule().buildFactor(b, x[0]));
  return {factor.to(b.getF32Type())};
}
