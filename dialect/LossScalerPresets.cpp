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
#include "support/Number.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
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

namespace mp {
static std::string toText(double number) { return shortestDecimal(number); }
static std::string toText(int64_t number) { return std::to_string(number); }
} // namespace mp

std::string mp::toText(const ScalerFields &fields) {
  if (fields.mode == ScalerFields::Mode::Static)
    return "scale=" + toText(fields.initScale);
  if (fields.mode != ScalerFields::Mode::Dynamic)
    return "";
  std::string text;
  forEachScalerField([&](StringRef name, auto field) {
    text +=
        (Twine(text.empty() ? "" : " ") + name + "=" + toText(fields.*field))
            .str();
  });
  return text;
}

template <typename T, size_t N>
static bool lookUp(const std::pair<StringLiteral, T> (&words)[N],
                   StringRef text, T &value) {
  auto *found = find_if(words, [&](auto &word) { return word.first == text; });
  if (found == std::end(words))
    return false;
  value = found->second;
  return true;
}
template <typename T, size_t N>
static StringRef wordOf(const std::pair<StringLiteral, T> (&words)[N],
                        T value) {
  return find_if(words, [&](auto &word) { return word.second == value; })
      ->first;
}

static constexpr std::pair<StringLiteral, Refill> kRefills[] = {
    {"growth", Refill::Growth}, {"clean_step", Refill::CleanStep}};
static constexpr std::pair<StringLiteral, OnMin> kOnMins[] = {
    {"hold", OnMin::Hold},
    {"raise", OnMin::Raise},
    {"raise_before", OnMin::RaiseBefore}};

bool mp::parseWord(StringRef text, Refill &refill) {
  return lookUp(kRefills, text, refill);
}
bool mp::parseWord(StringRef text, OnMin &onMin) {
  return lookUp(kOnMins, text, onMin);
}
StringRef mp::toText(Refill refill) { return wordOf(kRefills, refill); }
StringRef mp::toText(OnMin onMin) { return wordOf(kOnMins, onMin); }
