//===- SynthesizeScales.cpp - a scale of its own for each gradient --------===//
//
// The scales are decided on forward, as backward rounds gradients to f16 where
// no pass can scale them any more. An op's exponent is the power of two that
// multiplies the gradients of its results. If it differs from that of an
// operand, an mp.scale_gradient stands in between, so that all gradients that
// arrive at a value have one scale.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Gradient.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/GradientPaths.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/SettingOptions.h"
#include "support/Json.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <map>
#include <set>

namespace mp {
#define GEN_PASS_DEF_SYNTHESIZESCALES
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// A calibration's data on a value's gradient.
struct Gradient {
  std::string of;
  double largest = 0;
};
/// By the op's number and the result's index.
using Gradients = std::map<std::pair<int64_t, unsigned>, Gradient>;

bool isHalf(Value value) {
  return isFloatTensor(value) && elementType(value).isF16();
}

/// Decides the exponents of a function, and inserts the ops that apply them.
class Synthesis {
public:
  /// A gradient times two to its op's exponent stays below `limit`.
  Synthesis(func::FuncOp function, const Gradients &gradients, double limit)
      : body(function.getBody().front()), gradients(gradients), limit(limit) {}

  /// Prepares backward from these results to these parameters.
  void run(const ParameterAssignment &parameters) {
    for (Operation &op : body) {
      auto read = dyn_cast<ReadOp>(op);
      if (read ? parameters.contains(read.getVariableAttr().getAttr())
               : llvm::any_of(op.getOperands(), [&](Value operand) {
                   return active.contains(operand);
                 }))
        active.insert(op.result_begin(), op.result_end());
    }
    for (Operation &op : llvm::make_early_inc_range(body))
      if (passesGradients(&op))
        shiftOperands(&op);
    std::set<unsigned> losses;
    for (auto [name, group] : parameters)
      losses.insert(group.getResult());
    for (unsigned loss : losses)
      shift(body.getTerminator()->getOpOperand(loss), 0);
  }

private:
  bool isActive(Value value) const {
    return isFloatTensor(value) && active.contains(value);
  }

  bool passesGradients(Operation *op) const {
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    return rule && !rule.stopsGradient() &&
           rule.whyNotDifferentiable().empty() &&
           llvm::any_of(op->getResults(),
                        [&](Value result) { return isActive(result); });
  }

  /// Shifts operands, the last first: so backward, which goes the other way,
  /// adds gradients in the order that it would have without.
  void shiftOperands(Operation *op) {
    int own = exponentOf(op);
    for (OpOperand &operand : llvm::reverse(op->getOpOperands()))
      if (isActive(operand.get()))
        shift(operand, own);
  }

  /// Inserts an op between a value and a use whose gradient comes with
  /// 2^`arriving`.
  void shift(OpOperand &use, int arriving) {
    Operation *maker = use.get().getDefiningOp();
    int exponent = maker ? exponentOf(maker) - arriving : 0;
    if (exponent == 0 || !isActive(use.get()))
      return;
    OpBuilder builder(use.getOwner());
    auto scaled =
        ScaleGradientOp::create(builder, use.getOwner()->getLoc(),
                                use.get().getType(), use.get(), exponent);
    exponents[scaled] = arriving;
    active.insert(scaled);
    use.set(scaled);
  }

  //===--------------------------------------------------------------------===//
  // Exponents
  //===--------------------------------------------------------------------===//

  int exponentOf(Operation *op) {
    auto [known, isNew] = exponents.try_emplace(op, 0);
    if (!isNew)
      return known->second;
    int exponent = decide(op);
    return exponents[op] = exponent;
  }

  int decide(Operation *op) {
    // A variable's gradient has no scale but the loss's.
    if (isa<ReadOp>(op))
      return 0;
    auto cast = dyn_cast<CastOp>(op);
    if (!cast || isHalf(cast.getInput()) == isHalf(cast.getResult()))
      return fit(op);
    if (isHalf(cast.getResult()))
      return exponentOfUsers(cast);
    // The gradient that arrives is f32 and is shifted before it is rounded.
    Operation *maker = cast.getInput().getDefiningOp();
    return maker && isActive(cast.getInput()) ? exponentOf(maker) : 0;
  }

  /// Returns the exponent for an f16 copy of an f32 value, such as a weight:
  /// the gradients of its users need no shift in f16, as they are shifted in
  /// f32 after the cast.
  int exponentOfUsers(CastOp copy) {
    std::optional<int> most;
    for (Operation *user : copy->getUsers())
      if (!isa<CastOp, ScaleGradientOp>(user) && passesGradients(user))
        most = std::max(most.value_or(INT_MIN), exponentOf(user));
    return most ? *most : fit(copy);
  }

  /// Returns the exponent for an op: gradients of its results and operands are
  /// rounded at it.
  int fit(Operation *op) const {
    double largest = 0;
    for (Value result : op->getResults())
      largest = std::max(largest, largestOf(result));
    for (Value operand : op->getOperands())
      if (isActive(operand))
        largest = std::max(largest, largestOf(operand));
    if (largest == 0)
      return 0;
    // The difference of two such exponents is one that mp.scale_gradient takes.
    constexpr int most = 63;
    int exponent = std::ilogb(limit) - std::ilogb(largest);
    if (std::ldexp(largest, exponent) >= limit)
      --exponent;
    return std::clamp(exponent, -most, most);
  }

  /// Returns the largest gradient of a value that is f16; of others zero.
  double largestOf(Value value) const {
    if (auto scaled = value.getDefiningOp<ScaleGradientOp>())
      value = scaled.getInput();
    auto result = dyn_cast<OpResult>(value);
    auto number =
        result ? result.getOwner()->getAttrOfType<IntegerAttr>(kNumberAttr)
               : IntegerAttr();
    if (!number || !isHalf(value))
      return 0;
    auto found = gradients.find({number.getInt(), result.getResultNumber()});
    return found == gradients.end() ? 0 : found->second.largest;
  }

  Block &body;
  const Gradients &gradients;
  double limit;
  llvm::DenseSet<Value> active; ///< those that depend on a parameter
  DenseMap<Operation *, int> exponents;
};

struct SynthesizeScales
    : PassWithSettings<mp::impl::SynthesizeScalesBase<SynthesizeScales>,
                       &RecipeSettings::scales> {
  using PassWithSettings::PassWithSettings;

  void runOnOperation() override {
    calibration = getSettings().scales;
    if (calibration.empty()) {
      getOperation().emitError()
          << "name the file of a calibration, that 'mp-run calibrate --json' "
             "writes: mp-synthesize-scales{scales=FILE}";
      return signalPassFailure();
    }
    Gradients gradients;
    if (failed(checkScaler(getOperation(), {scaler, defaultScaler})) ||
        failed(readCalibration(gradients)))
      return signalPassFailure();
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (failed(synthesize(recipe, gradients)))
        return signalPassFailure();
    getOperation().walk([](Operation *op) { op->removeAttr(kNumberAttr); });
  }

private:
  //===--------------------------------------------------------------------===//
  // The file
  //===--------------------------------------------------------------------===//

  LogicalResult readCalibration(Gradients &gradients) {
    auto buffer = llvm::MemoryBuffer::getFile(calibration);
    if (!buffer)
      return getOperation().emitError() << "cannot read " << calibration << ": "
                                        << buffer.getError().message();
    auto parsed = parseJson((*buffer)->getBuffer());
    if (!parsed)
      return refuseFile(toString(parsed.takeError()));
    auto *object = parsed->getAsObject();
    auto *all = object ? object->getArray("gradients") : nullptr;
    auto spare = object ? object->getInteger("headroom") : std::nullopt;
    if (!all || !spare)
      return refuseFile("it has no list \"gradients\", or no \"headroom\"");
    if (headroom < 0)
      headroom = std::clamp<int64_t>(*spare, 0, 30);
    for (const llvm::json::Value &value : *all)
      if (failed(readGradient(value, gradients)))
        return failure();
    return success();
  }

  LogicalResult refuseFile(const Twine &why) {
    return getOperation().emitError()
           << calibration
           << " is not a calibration, as 'mp-run calibrate --json' "
           << "writes it: " << why;
  }

  LogicalResult readGradient(const llvm::json::Value &value,
                             Gradients &gradients) {
    auto *object = value.getAsObject();
    auto number = object ? object->getInteger("number") : std::nullopt;
    auto result = object ? object->getInteger("result") : std::nullopt;
    auto largest = object ? object->getNumber("largest") : std::nullopt;
    auto of = object ? object->getString("of") : std::nullopt;
    if (!number || !result || !largest || !of || !std::isfinite(*largest) ||
        *largest < 0)
      return refuseFile("a gradient lacks \"number\", \"result\", \"of\" or "
                        "\"largest\"");
    // With several losses, the value has a gradient of each.
    Gradient &gradient = gradients[{*number, *result}];
    gradient.of = of->str();
    gradient.largest = std::max(gradient.largest, *largest);
    return success();
  }

  /// Fails unless every value whose gradient the file has is one of the
  /// function.
  LogicalResult checkSame(func::FuncOp function, const Gradients &gradients) {
    llvm::DenseMap<int64_t, Operation *> numbered;
    for (Operation &op : function.getBody().front())
      if (auto number = op.getAttrOfType<IntegerAttr>(kNumberAttr))
        numbered[number.getInt()] = &op;
    if (numbered.empty())
      return function.emitOpError()
             << "has no f16 value with a number: cast it to f16, and run "
                "mp-number-ops{only=f16} before mp-synthesize-scales";
    for (auto &[place, gradient] : gradients) {
      Operation *op = numbered.lookup(place.first);
      std::string here = op && place.second < op->getNumResults()
                             ? originOf(op->getResult(place.second))
                             : "missing";
      if (here == gradient.of)
        continue;
      return (op ? op->emitError() : function.emitOpError())
             << calibration << " is of another graph, or of another policy: "
             << "its f16 value " << place.first << " is " << gradient.of
             << ", which here is " << here
             << "; calibrate again with 'mp-run calibrate --json'";
    }
    return success();
  }

  /// Fails unless the file has every f16 gradient of the later backward.
  LogicalResult checkComplete(func::FuncOp function, const Gradients &gradients,
                              const ParameterAssignment &parameters) {
    Block &body = function.getBody().front();
    std::map<unsigned, SmallVector<Value>> reads; // by loss
    for (auto read : body.getOps<ReadOp>())
      if (MinimizeOp group =
              parameters.lookup(read.getVariableAttr().getAttr()))
        reads[group.getResult()].push_back(read);
    for (auto &[loss, sources] : reads) {
      GradientPaths paths(function, body.getTerminator()->getOperand(loss));
      llvm::DenseSet<Value> active = dependents(sources, body);
      for (Operation &op : body) {
        auto number = op.getAttrOfType<IntegerAttr>(kNumberAttr);
        for (OpResult result : op.getResults())
          if (number && isHalf(result) && active.contains(result) &&
              paths.reaches(result) &&
              !gradients.count({number.getInt(), result.getResultNumber()}))
            return op.emitError()
                   << calibration << " is of another graph, or of another "
                   << "policy: it has no gradient of f16 value "
                   << number.getInt() << ", which here is " << originOf(result)
                   << "; calibrate again with 'mp-run calibrate --json'";
      }
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // The recipe
  //===--------------------------------------------------------------------===//

  LogicalResult synthesize(TrainOp recipe, const Gradients &gradients) {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        recipe, recipe.getFunctionAttr());
    if (!function || !function.getBody().hasOneBlock())
      return recipe.emitOpError() << "its function has control flow, in which "
                                     "no scales are chosen";
    bool anyHalf = false;
    function.walk([&](Operation *op) {
      anyHalf |= llvm::any_of(op->getResults(), isHalf);
    });
    if (!anyHalf)
      return recipe.emitOpError()
             << "has no f16 value, whose gradient could want a scale of its "
                "own: train in fp16, or without a calibration (--scales)";
    ScalerFields fields = scalerFields(recipe, {scaler, defaultScaler});
    if (fields.mode == ScalerFields::Mode::None)
      return recipe.emitOpError()
             << "gives gradients scales of their own but has no loss scaler, "
                "which finds where one overflows: write mp.scaler @scaler "
                "{preset = \"static:1\"} and scaler(@scaler), or choose "
                "static:1 as the scaler";
    if (failed(checkSame(function, gradients)))
      return failure();
    for (auto gradient : function.getOps<GradientOp>())
      return gradient.emitOpError()
             << "is a gradient inside the function, whose value scales would "
                "change: train without them";
    auto parameters = assignParameters(recipe, function);
    if (failed(parameters))
      return failure();
    if (failed(checkComplete(function, gradients, *parameters)))
      return failure();
    double limit = 65504 / fields.initScale;
    Synthesis(function, gradients, std::ldexp(limit, -headroom))
        .run(*parameters);
    return success();
  }

  std::string calibration; ///< the file
};
} // namespace

std::unique_ptr<Pass>
mp::createSynthesizeScales(const RecipeSettings &settings,
                           const SynthesizeScalesOptions &options) {
  return std::make_unique<SynthesizeScales>(settings, options);
}
