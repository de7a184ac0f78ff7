//===- LossScalerPresets.cpp - the loss scalers of other systems by name --===//
//
// The presets follow torch/amp/grad_scaler.py; apex/amp/scaler.py and
// csrc/update_scale_hysteresis.cu; keras/src/optimizers/loss_scale_optimizer.py
// and TensorFlow's DynamicLossScale; deepspeed/runtime/fp16/loss_scaler.py;
// megatron/core/optimizer/grad_scaler.py; fairseq/optim/dynamic_loss_scaler.py;
// jmp/_src/loss_scale.py.
//
//===----------------------------------------------------------------------===//
#include "dialect/LossScalerPresets.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <charconv>
#include <cmath>

using namespace llvm;
using namespace mp;

namespace {
struct Preset {
  StringRef name;
  ScalerFields fields;
};
} // namespace

static ScalerFields deepspeed(Refill refill) {
  return {.growthInterval = 1000,
          .growthDelay = 1,
          .minScale = 1,
          .hysteresis = 2,
          .refill = refill,
          .onMin = OnMin::Raise};
}

static ArrayRef<Preset> presets() {
  static const Preset all[] = {
      {"torch", {}},
      {"apex", {.maxScale = 0x1p24}},
      {"apex-hysteresis", {.hysteresis = 2, .refill = Refill::CleanStep}},
      {"keras", {.initScale = 0x1p15}},
      {"keras2", {.initScale = 0x1p15, .minScale = 1}},
      {"deepspeed", deepspeed(Refill::Growth)},
      {"deepspeed-consecutive", deepspeed(Refill::CleanStep)},
      {"megatron",
       {.initScale = 0x1p32,
        .growthInterval = 1000,
        .minScale = 1,
        .hysteresis = 2}},
      {"fairseq",
       {.initScale = 0x1p7,
        .growthInterval = 1 << 14,
        .minScale = 1e-4,
        .onMin = OnMin::RaiseBefore}},
      {"jmp", {.initScale = 0x1p15, .minScale = 1}},
      {"none", {.mode = ScalerFields::Mode::None, .initScale = 1}},
  };
  return all;
}

static Error unknown(StringRef name) {
  std::vector<std::string> names;
  for (const Preset &preset : presets())
    names.push_back(preset.name.str());
  auto nearest = nearestNames(name, names, /*limit=*/1);
  std::string hint = nearest.empty() ? ", expected "
                                     : "; did you mean \"" + nearest.front() +
                                           "\"? There are ";
  return createStringError("unknown scaler \"" + name + "\"" + hint +
                           join(names, ", ") + ", static:N, static:auto");
}

Expected<ScalerFields> mp::parseScaler(StringRef preset) {
  for (const Preset &known : presets())
    if (known.name == preset)
      return known.fields;
  if (!preset.consume_front("static:"))
    return unknown(preset);
  ScalerFields fields{.mode = ScalerFields::Mode::Static};
  if (preset == "auto") {
    fields.mode = ScalerFields::Mode::Calibrated;
    return fields;
  }
  if (preset.getAsDouble(fields.initScale) ||
      !(fields.initScale >= fields.minScale &&
        fields.initScale <= fields.maxScale))
    return createStringError("static loss scale \"" + preset +
                             "\", expected a positive 32-bit float, or auto");
  return fields;
}

bool mp::hasToGrow(StringRef preset) {
  return preset == "torch" || preset == "megatron";
}

/// The shortest decimal that reads back as this number.
static std::string shortest(double number) {
  char text[32];
  auto [end, error] = std::to_chars(text, std::end(text), number);
  return {text, end};
}

std::string mp::toText(const ScalerFields &fields) {
  std::string text;
  auto add = [&](StringRef name, const Twine &value) {
    text += (Twine(text.empty() ? "" : " ") + name + "=" + value).str();
  };
  if (fields.mode == ScalerFields::Mode::Static)
    add("scale", shortest(fields.initScale));
  if (fields.mode != ScalerFields::Mode::Dynamic)
    return text;
  add("init_scale", shortest(fields.initScale));
  add("growth_factor", shortest(fields.growthFactor));
  add("backoff_factor", shortest(fields.backoffFactor));
  add("growth_interval", Twine(fields.growthInterval));
  add("growth_delay", Twine(fields.growthDelay));
  add("min_scale", shortest(fields.minScale));
  add("max_scale", shortest(fields.maxScale));
  add("hysteresis", Twine(fields.hysteresis));
  add("hysteresis_refill", toText(fields.refill));
  add("tolerance", shortest(fields.tolerance));
  add("on_min", toText(fields.onMin));
  return text;
}

std::optional<Refill> mp::parseRefill(StringRef text) {
  return StringSwitch<std::optional<Refill>>(text)
      .Case("growth", Refill::Growth)
      .Case("clean_step", Refill::CleanStep)
      .Default(std::nullopt);
}
StringRef mp::toText(Refill refill) {
  return refill == Refill::Growth ? "growth" : "clean_step";
}

std::optional<OnMin> mp::parseOnMin(StringRef text) {
  return StringSwitch<std::optional<OnMin>>(text)
      .Case("hold", OnMin::Hold)
      .Case("raise", OnMin::Raise)
      .Case("raise_before", OnMin::RaiseBefore)
      .Default(std::nullopt);
}
StringRef mp::toText(OnMin onMin) {
  return onMin == OnMin::Hold    ? "hold"
         : onMin == OnMin::Raise ? "raise"
                                 : "raise_before";
}
