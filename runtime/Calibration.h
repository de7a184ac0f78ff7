//===- Calibration.h - the sizes of a network's gradients -------*- C++ -*-===//
//
// What a loss scale is chosen from: the gradients that training has in f16,
// computed in f32, where they neither underflow nor overflow.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CALIBRATION_H
#define MP_RUNTIME_CALIBRATION_H

#include "runtime/Model.h"
#include "runtime/data/Shuffle.h"
#include <array>

namespace mp {

/// How large the elements of gradients are, their signs left out.
struct Magnitudes {
  /// Of the least subnormal f32, and of the largest.
  static constexpr int least = -149, most = 127;
  /// Elements of [2^e, 2^(e+1)), by e - least.
  std::array<uint64_t, most - least + 1> counts = {};
  uint64_t zeros = 0, nonFinite = 0;
  double largest = 0; ///< of the finite ones

  void add(double element);
  void add(const Magnitudes &other);
  uint64_t nonZeros() const;

  /// What f16 makes of the finite elements that are not zero, each times
  /// 2^shift; shares of these. What f16 rounds up to its least number is
  /// subnormal.
  struct Shares {
    double zero = 0, subnormal = 0, normal = 0, infinite = 0;
  };
  Shares inHalf(int shift) const;
};

/// What f16 makes of a number of that exponent: "zero", "subnormal", "normal"
/// or "infinite".
llvm::StringRef fateInHalf(int exponent);

/// The gradients of one value over all batches.
struct GradientStatistics {
  /// Which value: result of the op of that number among those that yield f16;
  /// and of which of the recipe's losses this is the gradient.
  unsigned loss = 0, number = 0, result = 0;
  std::string origin; ///< "mp.linear", or "@fc1.weight"
  Location source;
  Magnitudes magnitudes;
  std::string str() const; ///< "mp.linear (file:line:column)"
};

struct Calibration {
  std::string module;
  int64_t batches = 0, rows = 0;
  int headroom = 0;
  std::vector<GradientStatistics> gradients; ///< in the order of forward
  /// Of the loss scale that was chosen, a power of two.
  int exponent = 0;
  double scale() const;
  std::string scaler() const; ///< "static:8192"
  /// "loss scale 8192 chosen from 16 batches: ..."
  std::string summary() const;
  const GradientStatistics &largest() const;
  Magnitudes all() const;
};

/// How many factors of two a scale leaves free, for what grows later in
/// training: docs/calibration.md has what was measured.
inline constexpr int kHeadroom = 6;
inline constexpr int64_t kCalibrationBatches = 16;
/// The loss scaler whose scale is chosen so.
inline constexpr llvm::StringLiteral kCalibratedScaler = "static:auto";

/// The largest e for which `largest` times 2^(e + headroom) is less than 65504,
/// but no more than what f32 holds with its inverse.
int chooseExponent(double largest, int headroom);

struct CalibrateOptions {
  BatchPlan plan;
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t batches = kCalibrationBatches;
  int headroom = kHeadroom;
  std::string init = {}; ///< file of first weights
};

/// Initialises the model's session, runs the first whole micro-batches of a
/// run, backward among them, and chooses a scale. Buffers are then those behind
/// the last batch. Errors: nothing is f16, a gradient is not finite, all are
/// zero.
llvm::Expected<Calibration> calibrate(Model &model, const Dataset &data,
                                      const CalibrateOptions &options);

/// A histogram, and the gradients that lose most without a scale.
std::string toText(const Calibration &calibration, size_t most = 10);
/// What mp-synthesize-scales reads.
std::string toJson(const Calibration &calibration);

} // namespace mp

#endif // MP_RUNTIME_CALIBRATION_H
