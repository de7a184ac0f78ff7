//===- Gradients.h - how far parameters' gradients are from f64 -----------===//
#ifndef MP_PRECISION_SEARCH_GRADIENTS_H
#define MP_PRECISION_SEARCH_GRADIENTS_H

#include "precision/compare/Measure.h"

namespace mp::precision {

/// The worst over parameters and batches.
struct GradientError {
  /// max |g - g64| / max |g64|; infinite where g is not finite.
  double error = 0;
  double l2 = 0;          ///< |g - g64| / |g64|, the greatest
  uint64_t nonFinite = 0; ///< elements, of the parameter that is named
  int64_t number = 0;     ///< of the op that reads the worst parameter
  size_t batch = 0;       ///< where it is worst, from 0
  double scale = 1;       ///< loss scale that it was measured at
  /// Where gradients overflow at the one that training begins with.
  std::optional<SettledScale> settled = std::nullopt;
};

/// Gradients in f64, of each batch.
class GradientReference {
public:
  /// Runs the variant in f64. Errors: a value or a gradient is not finite,
  /// which names the op; no parameter has a gradient.
  static llvm::Expected<GradientReference> create(const Subject &subject,
                                                  Measurer &measurer);

  /// How far the gradients of a setting are from these, at the loss scale that
  /// training comes to.
  llvm::Expected<GradientError> measure(const Subject &subject,
                                        const Setting &setting,
                                        Measurer &measurer) const;

  /// "@fc1.weight", of the op that reads it.
  std::string parameter(int64_t number) const;
  /// The first op that computes with it.
  const OpFacts *user(int64_t number) const;
  /// Parameters whose gradient is zero but for rounding, to which no error can
  /// be relative.
  std::vector<std::string> leftOut;

private:
  llvm::Expected<GradientError> measureAt(const Subject &subject,
                                          const Setting &setting,
                                          Measurer &measurer) const;

  Variant variant;
  /// By the name of the result that returns it.
  std::vector<Values> gradients;
};

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_GRADIENTS_H
