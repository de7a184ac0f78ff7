//===- Comparison.h - results of mp-diff ----------------------------------===//
#ifndef MP_PRECISION_COMPARE_COMPARISON_H
#define MP_PRECISION_COMPARE_COMPARISON_H

#include "precision/compare/Measure.h"

namespace mp::precision {

struct DiffOptions {
  std::string module, function, data, init, json, scaler;
  std::vector<std::string> policies;
  uint64_t batch = 32, seed = 0, steps = 50, warmup = 5;
  std::optional<double> tolerance, scale;
  bool all = false, failBeyond = false;
  Execution execution;
};

struct Side {
  Setting setting;
  Variant variant;
  double tolerance = 0;
  /// Set if gradients overflow at the loss scale that training begins with.
  std::optional<SettledScale> settled;
  std::map<int64_t, OpDifference> differences;
  StepFacts step;

  /// Returns the first op whose value is beyond the tolerance, and in
  /// backward's order the first whose gradient is; 0: none.
  int64_t firstBeyond() const, firstGradientBeyond() const;
};

struct Comparison {
  Subject subject;
  std::string device, where;
  Variant reference;
  std::vector<Side> sides;
};

/// Runs every variant and the reference, and measures the steps in turn.
llvm::Expected<Comparison> compareVariants(const DiffOptions &options);

std::string toText(const Comparison &comparison, const DiffOptions &options);
std::string toJson(const Comparison &comparison, const DiffOptions &options);

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_COMPARISON_H
