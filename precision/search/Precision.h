//===- Precision.h - the cheapest precision within a tolerance ------------===//
#ifndef MP_PRECISION_SEARCH_PRECISION_H
#define MP_PRECISION_SEARCH_PRECISION_H

#include "precision/search/Gradients.h"
#include "precision/search/Units.h"
#include <cmath>

namespace mp::precision {

struct PrecisionOptions {
  std::string module, function, data, init, out, json, scaler;
  std::vector<std::string> policies; ///< rows besides torch's
  double tolerance = 0;
  std::optional<double> scale;
  bool byTime = false;
  uint64_t batch = 32, batches = 4, seed = 0, steps = 50, warmup = 5;
  uint64_t maxEvaluations = 256;
  bool all = false;
  Execution execution;
};

/// A policy, measured.
struct PrecisionRow {
  std::string name;
  Setting setting;
  std::string whyNot;  ///< why it was not measured; "" if it was
  Colouring colouring; ///< empty if it is not a policy
  GradientError gradients;
  int64_t casts = 0; ///< of the step
  StepFacts step;

  bool trains() const { return whyNot.empty() && step.whyNot.empty(); }
  bool isWithin(double tolerance) const {
    return whyNot.empty() && std::isfinite(gradients.error) &&
           gradients.error <= tolerance;
  }
  /// Returns the cost that is minimised; infinite if there is no step.
  double cost(bool byTime) const;
};

struct PrecisionReport {
  Subject subject;
  std::string device, where, precision, dtype;
  double scale = 1; ///< the largest that a policy was measured at
  /// Set if gradients of torch's policy overflow at its first loss scale.
  std::optional<SettledScale> settled;
  Units units;
  GradientReference reference;
  ColouringResult search;
  std::vector<PrecisionRow>
      rows;           ///< f32, torch, others, low; the found policy last
  std::string policy; ///< text of the found policy's file
  double seconds = 0;

  const PrecisionRow &found() const { return rows.back(); }
  const PrecisionRow &torch() const { return rows[1]; }
  /// Returns the row that costs are relative to: torch, or f32 if torch cannot
  /// be trained with.
  const PrecisionRow &base() const {
    return rows[1].trains() ? rows[1] : rows[0];
  }
};

/// Searches, writes the policy's file, and measures it beside the others.
/// Errors: nothing is within the tolerance.
llvm::Expected<PrecisionReport>
searchPrecision(const PrecisionOptions &options);

/// Tells in one sentence whether the found policy is cheaper than torch's.
std::string verdict(const PrecisionReport &report,
                    const PrecisionOptions &options);
std::string toText(const PrecisionReport &report,
                   const PrecisionOptions &options);
std::string toJson(const PrecisionReport &report,
                   const PrecisionOptions &options);

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_PRECISION_H
