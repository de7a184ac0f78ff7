//===- Calibration.h - gradient statistics that give a loss scale ---------===//
//
// A loss scale is chosen from the gradients that training has in f16, computed
// in f32, where they neither underflow nor overflow.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_NUMERICS_CALIBRATION_H
#define MP_RUNTIME_NUMERICS_CALIBRATION_H

#include "runtime/Model.h"
#include "runtime/data/Shuffle.h"
#include "runtime/numerics/Ledger.h"

namespace mp {

struct Calibration {
  std::string module;
  int64_t batches = 0, rows = 0;
  Ledger ledger;
  /// The exponent of the chosen loss scale, which is a power of two.
  int exponent = 0;
  double scale() const;
  std::string scaler() const { return staticScaler(exponent); }
  /// "loss scale 8192 chosen from 16 batches: ..."
  std::string summary() const;
  /// The gradients of the first batch, if the options ask for them, in the
  /// order of the ledger and with its names.
  std::vector<Array> firstBatch;
};

inline constexpr int64_t kCalibrationBatches = 16;
/// The loss scaler whose scale a calibration chooses.
inline constexpr llvm::StringLiteral kCalibratedScaler = "static:auto";

/// Returns the entry point that computes, in f32 and unscaled, the gradients
/// that training has in f16. Fails if training has none.
llvm::Expected<Executable *> gradientsOf(Model &model, BatchSize size);

struct CalibrateOptions {
  BatchPlan plan = {};
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t batches = kCalibrationBatches;
  int headroom = kHeadroom;
  std::string init = {};        ///< file of initial weights
  double scale = 1;             ///< of the ledger
  bool keepsFirstBatch = false; ///< whether Calibration::firstBatch is filled
};

/// Initialises the session of the model, runs forward and backward on the first
/// whole micro-batches of a run, and chooses a scale. With buckets, smaller
/// ones count too. Buffers are those after
/// the last batch. Errors: nothing is f16, a gradient is not finite, all are
/// zero.
llvm::Expected<Calibration> calibrate(Model &model, const Dataset &data,
                                      const CalibrateOptions &options);

/// Formats a histogram, and the gradients that lose most at the scale of the
/// ledger.
std::string toText(const Calibration &calibration, size_t most = 10);
/// Returns the content of the file `path` that mp-synthesize-scales reads.
std::string toJson(const Calibration &calibration, llvm::StringRef path);
/// Draws the histogram at the scale of the ledger and at the chosen one, as
/// SVG.
std::string toPicture(const Calibration &calibration);

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_CALIBRATION_H
