//===- LossScaler.cpp - the loss scale's state machine --------------------===//
#include "dialect/ops/LossScaler.h"
#include "dialect/Expression.h"
#include <cmath>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Both ops have these fields under the same names.
static LogicalResult verifyFields(Operation *op, const ScalerFields &f) {
  constexpr double largest = std::numeric_limits<float>::max();
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  auto refuse = [&](StringRef field, auto value, StringRef expected) {
    return op->emitOpError()
           << field << " is " << value << ", expected " << expected;
  };
  if (!(f.growthFactor >= 1) || !std::isfinite(f.growthFactor))
    return refuse("growth_factor", f.growthFactor, "1 or more");
  if (!(f.backoffFactor > 0 && f.backoffFactor < 1))
    return refuse("backoff_factor", f.backoffFactor, "between 0 and 1");
  if (f.growthInterval < 1 || f.growthInterval > most)
    return refuse("growth_interval", f.growthInterval,
                  "a positive 32-bit number");
  if (f.growthDelay < 0 || f.growthDelay > most)
    return refuse("growth_delay", f.growthDelay,
                  "a 32-bit number of at least 0");
  if (!(f.minScale >= 0 && f.minScale <= largest))
    return refuse("min_scale", f.minScale, "a 32-bit float of at least 0");
  if (!(f.maxScale >= f.minScale && f.maxScale > 0))
    return refuse("max_scale", f.maxScale, "at least min_scale");
  if (f.maxScale > largest && std::isfinite(f.maxScale))
    return refuse("max_scale", f.maxScale, "a 32-bit float or infinity");
  if (f.hysteresis < 1 || f.hysteresis > most)
    return refuse("hysteresis", f.hysteresis, "a positive 32-bit number");
  if (!(f.tolerance >= 0 && f.tolerance <= 1))
    return refuse("tolerance", f.tolerance, "between 0 and 1");
  return success();
}

/// Reads the attribute of one field. Returns false if it is a word without a
/// meaning.
static bool readField(Attribute attribute, double &field) {
  field = cast<FloatAttr>(attribute).getValueAsDouble();
  return true;
}
static bool readField(Attribute attribute, int64_t &field) {
  field = cast<IntegerAttr>(attribute).getInt();
  return true;
}
template <typename Word>
static bool readField(Attribute attribute, Word &word) {
  return parseWord(cast<StringAttr>(attribute), word);
}

/// Replaces the fields that have an attribute. Words without a meaning leave
/// theirs, and the verifier refuses them.
static ScalerFields readFields(Operation *op, ScalerFields fields) {
  forEachScalerField([&](StringRef name, auto field) {
    if (Attribute attribute = op->getAttr(name))
      readField(attribute, fields.*field);
  });
  return fields;
}

static LogicalResult verifyWord(Operation *op, StringRef name, auto value,
                                StringRef expected) {
  Attribute attribute = op->getAttr(name);
  if (!attribute || readField(attribute, value))
    return success();
  return op->emitOpError() << name << " is " << attribute << ", expected "
                           << expected;
}
static LogicalResult verifyWords(Operation *op) {
  return failure(failed(verifyWord(op, "hysteresis_refill", Refill(),
                                   "\"growth\" or \"clean_step\"")) ||
                 failed(verifyWord(op, "on_min", OnMin(),
                                   "\"hold\", \"raise\" or \"raise_before\"")));
}

//===----------------------------------------------------------------------===//
// mp.scaler
//===----------------------------------------------------------------------===//

ScalerFields ScalerOp::getFields() {
  auto preset = parseScaler(getPreset());
  if (!preset) {
    consumeError(preset.takeError()); // the verifier reports it
    return {};
  }
  if (!getEnabled())
    return {.mode = ScalerFields::Mode::None, .initScale = 1};
  return readFields(*this, *preset);
}

LogicalResult ScalerOp::verify() {
  auto preset = parseScaler(getPreset());
  if (!preset)
    return emitOpError() << llvm::toString(preset.takeError());
  ScalerFields fields = getFields();
  if (preset->mode != ScalerFields::Mode::Dynamic) {
    auto given = llvm::find_if((*this)->getAttrs(), [&](NamedAttribute one) {
      return one.getName() != getSymNameAttrName() &&
             one.getName() != getPresetAttrName() &&
             one.getName() != getEnabledAttrName();
    });
    if (given != (*this)->getAttrs().end())
      return emitOpError() << "preset \"" << getPreset() << "\" has no field "
                           << given->getName().getValue()
                           << ": its scale does not change";
    return success();
  }
  constexpr double largest = std::numeric_limits<float>::max();
  if (!(static_cast<float>(fields.initScale) > 0 &&
        fields.initScale <= largest))
    return emitOpError() << "init_scale is " << fields.initScale
                         << ", expected a positive 32-bit float";
  if (failed(verifyFields(*this, fields)) || failed(verifyWords(*this)))
    return failure();
  if (fields.growthFactor == 1 && hasToGrow(getPreset()))
    return emitOpError() << "growth_factor is 1, expected more than 1, as "
                         << getPreset()
                         << " does; preset \"apex-hysteresis\" takes 1";
  if (fields.initScale < fields.minScale || fields.initScale > fields.maxScale)
    return emitOpError() << "init_scale is " << fields.initScale
                         << ", expected from min_scale, " << fields.minScale
                         << ", to max_scale, " << fields.maxScale;
  return success();
}

//===----------------------------------------------------------------------===//
// mp.update_scale
//===----------------------------------------------------------------------===//

static Attribute toAttribute(Builder &b, double value) {
  return b.getF64FloatAttr(value);
}
static Attribute toAttribute(Builder &b, int64_t value) {
  return b.getI64IntegerAttr(value);
}
static Attribute toAttribute(Builder &b, auto word) {
  return b.getStringAttr(toText(word));
}

void UpdateScaleOp::build(OpBuilder &b, OperationState &state, Value scale,
                          Value growthTracker, Value foundInf,
                          ValueRange counters, const ScalerFields &fields) {
  SmallVector<Value> operands{scale, growthTracker, foundInf};
  llvm::append_range(operands, counters);
  SmallVector<NamedAttribute> attributes;
  forEachScalerField([&](StringRef name, auto field) {
    auto value = fields.*field;
    bool isAttribute = llvm::is_contained(getAttributeNames(), name);
    if (isAttribute && value != ScalerFields().*field)
      attributes.push_back(b.getNamedAttr(name, toAttribute(b, value)));
  });
  build(b, state, operands, attributes);
}

LogicalResult UpdateScaleOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location>,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getScale().getType());
  types.push_back(adaptor.getGrowthTracker().getType());
  llvm::append_range(types, adaptor.getCounters().getTypes());
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 1)));
  return success();
}

LogicalResult UpdateScaleOp::verify() {
  ScalerFields fields = readFields(*this, {});
  if (failed(verifyFields(*this, fields)) || failed(verifyWords(*this)))
    return failure();
  size_t expected = (fields.hysteresis > 1) + 2 * (fields.tolerance > 0);
  if (getCounters().size() != expected)
    return emitOpError() << "has " << getCounters().size()
                         << " counters, expected " << expected
                         << ": one for hysteresis, two for tolerance";
  return success();
}

namespace {
/// The state machine on scalars. All branches are computed and then selected.
class Update {
public:
  Update(ImplicitLocOpBuilder &b, const ScalerFields &fields, ValueRange state)
      : b(b), f(fields), scale(b, state[0]), tracker(b, state[1]),
        foundInf(b, state[2]), counters(state.drop_front(3)) {}

  SmallVector<Value> run() {
    Expression clean = tracker + 1;
    // The condition is "at least", since a checkpoint may hold a tracker beyond
    // a growth_interval that was lowered later. It uses the tracker rather than
    // `clean`, which overflows for the largest tracker.
    due = tracker >= f.growthInterval - 1;
    if (f.hysteresis > 1)
      countHysteresis();
    if (f.tolerance > 0)
      countOverflows();
    Expression counted = select(due, 0, clean);
    Expression newTracker = select(foundInf, -f.growthDelay, counted);
    Expression lowered = afterOverflow(), grown = afterCleanStep();
    SmallVector<Value> results{select(foundInf, lowered, grown), newTracker};
    llvm::append_range(results, newCounters);
    results.push_back(exhausted);
    return results;
  }

private:
  /// A number in f64, rounded to the scale's f32 at run time.
  Expression scaleOf(double value) {
    return Expression::constant(b, b.getF64Type(), value).to(b.getF32Type());
  }
  Expression exactly(Expression x) { return x.to(b.getF64Type()); }
  Expression scaledBy(double factor) {
    return (exactly(scale) * factor).to(b.getF32Type());
  }

  /// Adds a condition for an overflow to lower the scale.
  void lowersWhere(Expression condition) {
    lowers = lowers ? lowers & condition : condition;
  }

  void countHysteresis() {
    Expression count(b, counters[0]);
    Expression left = count - 1;
    lowersWhere(left <= 0);
    Expression full = count.number(f.hysteresis);
    Expression afterClean =
        f.refill == Refill::CleanStep ? full : select(due, full, count);
    newCounters.push_back(select(foundInf, left, afterClean));
    counters = counters.drop_front();
  }

  void countOverflows() {
    auto [stepsBefore, overflowsBefore] = expressions<2>(b, counters);
    Expression zero = stepsBefore.number(0), one = stepsBefore.number(1);
    Expression steps = stepsBefore + one, overflows = overflowsBefore + one;
    Expression dividend = exactly(overflows), divisor = exactly(steps);
    lowersWhere(dividend / divisor >= f.tolerance);
    Expression rescaled = select(foundInf, lowers, due);
    newCounters.push_back(select(rescaled, zero, steps));
    Expression kept = select(lowers, zero, overflows);
    newCounters.push_back(select(foundInf, kept, overflowsBefore));
  }

  Expression afterCleanStep() {
    Expression grown = scaledBy(f.growthFactor);
    if (std::isfinite(f.maxScale)) {
      Expression fits =
          exactly(grown) < std::numeric_limits<double>::infinity();
      Expression limit = scaleOf(f.maxScale);
      Expression bounded = select(grown > limit, limit, grown);
      grown = select(fits, bounded, scale);
    }
    return select(due, grown, scale);
  }

  Expression afterOverflow() {
    Expression lowered = scaledBy(f.backoffFactor), low;
    if (f.onMin != OnMin::Hold) {
      Expression tested = f.onMin == OnMin::Raise ? scale : lowered;
      low = exactly(tested) <= f.minScale;
      exhausted = foundInf & (lowers ? lowers & low : low);
    } else {
      exhausted = foundInf.number(false);
    }
    if (f.minScale > 0) {
      Expression limit = scaleOf(f.minScale);
      lowered = select(lowered < limit, limit, lowered);
    }
    if (low)
      lowered = select(low, scale, lowered);
    return lowers ? select(lowers, lowered, scale) : lowered;
  }

  ImplicitLocOpBuilder &b;
  const ScalerFields &f;
  Expression scale, tracker, foundInf;
  ValueRange counters;
  Expression due;    ///< whether a clean step completes the growth interval
  Expression lowers; ///< whether an overflow lowers the scale; null: always
  Expression exhausted;
  SmallVector<Value> newCounters;
};
} // namespace

SmallVector<Value> UpdateScaleOp::buildScalars(ImplicitLocOpBuilder &b,
                                               ValueRange state) {
  ScalerFields fields = readFields(*this, {});
  return Update(b, fields, state).run();
}
