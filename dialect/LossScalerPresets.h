//===- LossScalerPresets.h - the loss scalers of other systems by name ----===//
#ifndef MP_DIALECT_LOSSSCALERPRESETS_H
#define MP_DIALECT_LOSSSCALERPRESETS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <limits>
#include <optional>
#include <string>

namespace mp {

/// When the overflows of `hysteresis` are counted again.
enum class Refill { Growth, CleanStep };
/// What an overflow does if the scale cannot become lower.
enum class OnMin { Hold, Raise, RaiseBefore };

/// How a loss scale begins and changes. The defaults are those of
/// torch.amp.GradScaler, except for `minScale`. `mp.update_scale` documents
/// each field.
///
/// A new field goes here and into forEachScalerField, into the arguments and
/// the description in ops/LossScaler.td, and into verifyFields and the state
/// machine in ops/LossScaler.cpp. Both ops, presets and checkpoints then have
/// it.
struct ScalerFields {
  enum class Mode { None, Static, Calibrated, Dynamic } mode = Mode::Dynamic;
  double initScale = 65536, growthFactor = 2, backoffFactor = 0.5;
  int64_t growthInterval = 2000, growthDelay = 0;
  /// The least normal f32: below it the inverse, which unscales gradients,
  /// becomes infinite.
  double minScale = std::numeric_limits<float>::min();
  double maxScale = std::numeric_limits<float>::max();
  int64_t hysteresis = 1;
  Refill refill = Refill::Growth;
  double tolerance = 0;
  OnMin onMin = OnMin::Hold;
};

/// Calls `visit(name, T ScalerFields::*)` for each field of a scale that
/// changes. The name is that of the attribute.
template <typename Visitor> void forEachScalerField(Visitor &&visit) {
  visit("init_scale", &ScalerFields::initScale);
  visit("growth_factor", &ScalerFields::growthFactor);
  visit("backoff_factor", &ScalerFields::backoffFactor);
  visit("growth_interval", &ScalerFields::growthInterval);
  visit("growth_delay", &ScalerFields::growthDelay);
  visit("min_scale", &ScalerFields::minScale);
  visit("max_scale", &ScalerFields::maxScale);
  visit("hysteresis", &ScalerFields::hysteresis);
  visit("hysteresis_refill", &ScalerFields::refill);
  visit("tolerance", &ScalerFields::tolerance);
  visit("on_min", &ScalerFields::onMin);
}

/// Which loss scaler a recipe trains with, by presets or "none".
struct ScalerChoice {
  std::string scaler = {};        ///< instead of the recipe's; "": the recipe's
  std::string defaultScaler = {}; ///< if the recipe has none; "": none
};

/// The fields of a preset. The error lists the presets, the nearest first.
llvm::Expected<ScalerFields> parseScaler(llvm::StringRef preset);

/// Whether the preset's system rejects a growth factor of 1: torch and Megatron
/// assert a larger one; Apex, DeepSpeed, fairseq and jmp accept any.
bool hasToGrow(llvm::StringRef preset);

/// The fields as "init_scale=65536 growth_factor=2 ..."; "scale=1024" for a
/// constant scale, and "" without a scaler.
std::string toText(const ScalerFields &fields);

/// Sets the value that a word of an attribute stands for. Returns false and
/// changes nothing if the word has no meaning.
bool parseWord(llvm::StringRef text, Refill &refill);
bool parseWord(llvm::StringRef text, OnMin &onMin);
llvm::StringRef toText(Refill refill);
llvm::StringRef toText(OnMin onMin);

} // namespace mp

#endif // MP_DIALECT_LOSSSCALERPRESETS_H
