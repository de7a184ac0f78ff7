//===- Schedule.cpp - schedules of the learning rate ----------------------===//
//
// The closed forms of torch.optim.lr_scheduler, as factors of the base rate,
// computed in f64 as there.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Schedule.h"
#include "dialect/Fields.h"
#include "dialect/Scalars.h"
#include <numbers>

using namespace mlir;
using namespace mp;
using namespace mp::scalars;

static Value number(ImplicitLocOpBuilder &b, double value) {
  return number(b, b.getF64Type(), value);
}
static Value whole(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}
static Value toReal(ImplicitLocOpBuilder &b, Value count) {
  return arith::SIToFPOp::create(b, b.getF64Type(), count);
}
/// min(t, steps) / steps.
static Value share(ImplicitLocOpBuilder &b, Value applied, int64_t steps) {
  Value reached = arith::MinSIOp::create(b, applied, whole(b, steps));
  return div(b, toReal(b, reached), number(b, steps));
}
/// from + (to - from) x
static Value between(ImplicitLocOpBuilder &b, double from, double to, Value x) {
  return add(b, number(b, from), mul(b, number(b, to - from), x));
}

/// The length that is stated, or the run's; 0 after an error.
static int64_t chooseLength(function_ref<InFlightDiagnostic()> emitError,
                            StringRef schedule, int64_t stated,
                            int64_t totalSteps) {
  if (stated > 0)
    return stated;
  if (totalSteps <= 0)
    emitError() << "a " << schedule
                << " schedule needs a length: give it `steps`, or the pipeline "
                   "`total-steps`";
  return std::max<int64_t>(totalSteps, 0);
}

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

bool ConstantScheduleAttr::isConstant() const { return true; }
Value ConstantScheduleAttr::buildFactor(ImplicitLocOpBuilder &b, Value) const {
  return number(b, 1);
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kLinear[] = {{"from", 1, Domain::NotNegative},
                                        {"to", 0, Domain::NotNegative},
                                        {"steps", 0, Domain::RunLength}};

Attribute LinearScheduleAttr::parse(AsmParser &parser, Type) {
  return parseFields<LinearScheduleAttr>(parser, kLinear);
}
void LinearScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer, kLinear, {getFrom(), getTo(), double(getSteps())});
}
LogicalResult
LinearScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           Number from, Number to, int64_t steps) {
  return verifyFields(emitError, kLinear, {from, to, double(steps)});
}
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
  return between(b, getFrom(), getTo(), share(b, applied, getSteps()));
}

//===----------------------------------------------------------------------===//
// step
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kStep[] = {{"step_size", kRequired, Domain::Length},
                                      {"gamma", 0.1, Domain::NotNegative}};

Attribute StepScheduleAttr::parse(AsmParser &parser, Type) {
  return parseFields<StepScheduleAttr>(parser, kStep);
}
void StepScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer, kStep, {double(getStepSize()), getGamma()});
}
LogicalResult
StepScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t stepSize, Number gamma) {
  return verifyFields(emitError, kStep, {double(stepSize), gamma});
}
Value StepScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                    Value applied) const {
  Value falls = arith::DivSIOp::create(b, applied, whole(b, getStepSize()));
  return math::PowFOp::create(b, number(b, getGamma()), toReal(b, falls));
}

//===----------------------------------------------------------------------===//
// exponential
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kExponential[] = {
    {"gamma", kRequired, Domain::NotNegative}};

Attribute ExponentialScheduleAttr::parse(AsmParser &parser, Type) {
  return parseFields<ExponentialScheduleAttr>(parser, kExponential);
}
void ExponentialScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer, kExponential, {getGamma()});
}
LogicalResult
ExponentialScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Number gamma) {
  return verifyFields(emitError, kExponential, {gamma});
}
Value ExponentialScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                           Value applied) const {
  return math::PowFOp::create(b, number(b, getGamma()), toReal(b, applied));
}

//===----------------------------------------------------------------------===//
// cosine
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kCosine[] = {{"to", 0, Domain::NotNegative},
                                        {"steps", 0, Domain::RunLength}};

Attribute CosineScheduleAttr::parse(AsmParser &parser, Type) {
  return parseFields<CosineScheduleAttr>(parser, kCosine);
}
void CosineScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer, kCosine, {getTo(), double(getSteps())});
}
LogicalResult
CosineScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           Number to, int64_t steps) {
  return verifyFields(emitError, kCosine, {to, double(steps)});
}
FailureOr<Attribute>
CosineScheduleAttr::withLength(function_ref<InFlightDiagnostic()> emitError,
                               int64_t totalSteps) const {
  int64_t steps = chooseLength(emitError, "cosine", getSteps(), totalSteps);
  if (!steps)
    return failure();
  return Attribute(get(getContext(), getTo(), steps));
}
Value CosineScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                      Value applied) const {
  Value angle = div(b, mul(b, number(b, std::numbers::pi), toReal(b, applied)),
                    number(b, getSteps()));
  Value wave = add(b, number(b, 1), math::CosOp::create(b, angle));
  return between(b, getTo(), 1, mul(b, number(b, 0.5), wave));
}

//===----------------------------------------------------------------------===//
// polynomial
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kPolynomial[] = {{"power", 1, Domain::NotNegative},
                                            {"steps", 0, Domain::RunLength}};

Attribute PolynomialScheduleAttr::parse(AsmParser &parser, Type) {
  return parseFields<PolynomialScheduleAttr>(parser, kPolynomial);
}
void PolynomialScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer, kPolynomial, {getPower(), double(getSteps())});
}
LogicalResult
PolynomialScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Number power, int64_t steps) {
  return verifyFields(emitError, kPolynomial, {power, double(steps)});
}
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
  Value left = sub(b, number(b, 1), share(b, applied, getSteps()));
  return math::PowFOp::create(b, left, number(b, getPower()));
}

//===----------------------------------------------------------------------===//
// inverse_sqrt
//===----------------------------------------------------------------------===//

static constexpr FieldSpec kInverseSqrt[] = {
    {"timescale", 10000, Domain::Length}};

Attribute InverseSqrtScheduleAttr::parse(AsmParser &parser, Type) {
  return parseFields<InverseSqrtScheduleAttr>(parser, kInverseSqrt);
}
void InverseSqrtScheduleAttr::print(AsmPrinter &printer) const {
  printFields(printer, kInverseSqrt, {double(getTimescale())});
}
LogicalResult
InverseSqrtScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t timescale) {
  return verifyFields(emitError, kInverseSqrt, {double(timescale)});
}
Value InverseSqrtScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                           Value applied) const {
  Value scale = number(b, getTimescale());
  return sqrt(b, div(b, scale, add(b, toReal(b, applied), scale)));
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
  // A run that ends within the warm-up never comes to what follows.
  int64_t left = totalSteps ? std::max<int64_t>(totalSteps - getSteps(), 1) : 0;
  auto then = getThen().withLength(emitError, left);
  if (failed(then))
    return failure();
  return Attribute(get(getContext(), getSteps(), getFrom(),
                       cast<ScheduleAttrInterface>(*then)));
}
Value WarmupScheduleAttr::buildFactor(ImplicitLocOpBuilder &b,
                                      Value applied) const {
  Value steps = whole(b, getSteps());
  Value rising = between(b, getFrom(), 1, share(b, applied, getSteps()));
  Value behind = arith::MaxSIOp::create(
      b, arith::SubIOp::create(b, applied, steps), whole(b, 0));
  Value rises =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, applied, steps);
  return arith::SelectOp::create(b, rises, rising,
                                 getThen().buildFactor(b, behind));
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
  return {arith::TruncFOp::create(b, b.getF32Type(),
                                  getSchedule().buildFactor(b, x[0]))};
}
