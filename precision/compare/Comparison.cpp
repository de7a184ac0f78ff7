//===- Comparison.cpp - run the variants, and measure their steps ---------===//
#include "precision/compare/Comparison.h"
#include "runtime/Device.h"
#include "support/Error.h"

using namespace llvm;

namespace mp::precision {

int64_t Side::firstBeyond() const {
  for (const auto &[number, difference] : differences)
    if (difference.value && difference.value->beyond)
      return number;
  return 0;
}

int64_t Side::firstGradientBeyond() const {
  for (const auto &[number, difference] : llvm::reverse(differences))
    if (difference.gradient && difference.gradient->beyond)
      return number;
  return 0;
}

namespace {

class Comparer {
public:
  Comparer(const DiffOptions &options) : options(options) {}

  Expected<Comparison> run() {
    auto subject = readSubject(options.module, options.function, options.batch,
                               options.execution.onNote);
    if (!subject)
      return subject.takeError();
    comparison.subject = std::move(*subject);
    comparison.subject.scaler = options.scaler;
    measurer.emplace(
        MeasureOptions{.module = options.module,
                       .data = options.data,
                       .init = options.init,
                       .batch = options.batch,
                       .seed = options.seed,
                       .totalSteps = options.warmup + options.steps,
                       .scale = options.scale,
                       .execution = options.execution},
        comparison.subject);
    if (Error error = addSides())
      return std::move(error);
    if (Error error = prepare())
      return std::move(error);
    if (Error error = compareNumbers())
      return std::move(error);
    if (Error error = measureSteps())
      return std::move(error);
    return std::move(comparison);
  }

private:
  Error addSides() {
    if (options.policies.size() == 1)
      addSide(plainSetting());
    for (StringRef text : options.policies) {
      auto setting =
          parseSetting(text, options.execution.precision, comparison.subject);
      if (!setting)
        return setting.takeError();
      addSide(std::move(*setting));
    }
    return Error::success();
  }

  void addSide(Setting setting) {
    Side &side = comparison.sides.emplace_back();
    side.setting = std::move(setting);
    if (side.setting.dtype == "f16")
      side.setting.scale = options.scale;
    side.tolerance = options.tolerance.value_or(32 * side.setting.roundoff());
  }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  /// Finds invalid policies before anything runs.
  Error prepare() {
    if (auto choice = chooseDevice(options.execution.device); !choice)
      return choice.takeError();
    for (Side &side : comparison.sides) {
      auto made = makeVariant(comparison.subject, side.setting);
      if (!made)
        return made.takeError();
      side.variant = std::move(*made);
    }
    auto made = makeVariant(comparison.subject, referenceSetting());
    if (!made)
      return made.takeError();
    comparison.reference = std::move(*made);
    return Error::success();
  }

  Error compareNumbers() {
    auto wide = measurer->evaluate(referenceSetting(), comparison.reference);
    if (!wide)
      return wide.takeError();
    for (Side &side : comparison.sides) {
      if (Error error = compareSide(side, wide->front()))
        return error;
      if (Error error = settle(side, wide->front()))
        return error;
    }
    comparison.device = measurer->device;
    comparison.where = measurer->where;
    return Error::success();
  }

  Error compareSide(Side &side, const Values &wide) {
    auto values = measurer->evaluate(side.setting, side.variant);
    if (!values)
      return values.takeError();
    side.differences =
        compareAll(values->front(), wide, side.tolerance, side.variant.scale);
    return Error::success();
  }

  /// If gradients overflow, compares them at the loss scale that training
  /// settles at.
  Error settle(Side &side, const Values &wide) {
    bool overflows = llvm::any_of(side.differences, [](const auto &difference) {
      const auto &gradient = difference.second.gradient;
      return gradient && gradient->nonFinite;
    });
    if (!overflows)
      return Error::success();
    auto settled = measurer->settleBelow(side.setting, side.variant.scale);
    if (!settled)
      return settled.takeError();
    if (!*settled)
      return Error::success();
    side.settled = *settled;
    side.setting.scale = (*settled)->scale;
    auto variant = makeVariant(comparison.subject, side.setting);
    if (!variant)
      return variant.takeError();
    side.variant = std::move(*variant);
    return compareSide(side, wide);
  }

  //===--------------------------------------------------------------------===//
  // Time
  //===--------------------------------------------------------------------===//

  Error measureSteps() {
    if (options.steps == 0)
      return Error::success();
    std::vector<std::unique_ptr<TimedStep>> steps;
    for (Side &side : comparison.sides) {
      auto step = measurer->prepare(side.setting);
      // A policy that cannot be trained with tells nothing about the others.
      side.step.whyNot =
          step ? (*step)->facts.whyNot : toString(step.takeError());
      steps.push_back(side.step.whyNot.empty() ? std::move(*step) : nullptr);
    }
    for (uint64_t i = 0; i < options.warmup + options.steps; ++i)
      for (auto &step : steps)
        if (step)
          if (Error error = step->run(i >= options.warmup))
            return error;
    for (auto [side, step] : zip_equal(comparison.sides, steps))
      if (step)
        side.step = step->facts;
    return Error::success();
  }

  const DiffOptions &options;
  Comparison comparison;
  std::optional<Measurer> measurer;
};

} // namespace

Expected<Comparison> compareVariants(const DiffOptions &options) {
  return Comparer(options).run();
}

} // namespace mp::precision
