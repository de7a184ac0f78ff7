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

/// How a loss scale begins and changes; `mp.update_scale` defines the fields.
/// The defaults are those of torch.amp.GradScaler, except for `minScale`.
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

/// The loss scaler that a recipe trains with, by preset or "none".
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

std::optional<Refill> parseRefill(llvm::StringRef text);
std::optional<OnMin> parseOnMin(llvm::StringRef text);
llvm::StringRef toText(Refill refill);
llvm::StringRef toText(OnMin onMin);

} // namespace mp

#endif // MP_DIALECT_LOSSSCALERPRESETS_H
