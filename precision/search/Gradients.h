//===- Gradients.h - how far parameters' gradients are from f64 -----------===//
#ifndef MP_PRECISION_SEARCH_GRADIENTS_H
#define MP_PRECISION_SEARCH_GRADIENTS_H

#include "precision/compare/Measure.h"

namespace mp::precision {

/// The worst gradient over parameters and batches.
struct GradientError {
  /// max |g - g64| / max |g64|; infinite if g is not finite.
  double error = 0;
  double l2 = 0;          ///< |g - g64| / |g64|, the largest
  uint64_t nonFinite = 0; ///< elements of the worst parameter
  int64_t number = 0;     ///< of the op that reads the worst parameter
  size_t batch = 0;       ///< the batch with the worst, from 0
  double scale = 1;       ///< loss scale of the measurement
  /// Set if gradients overflow at the scale that training begins with.
  std::optional<SettledScale> settled = std::nullopt;
};

/// Gradients in f64, for each batch.
class GradientReference {
public:
  /// Runs the variant in f64. Errors: a value or a gradient is not finite,
  /// which names the op; no parameter has a gradient.
  static llvm::Expected<GradientReference> create(const Subject &subject,
                                                  Measurer &measurer);

  /// Measures the error of a setting's gradients against these, at the loss
  /// scale that training settles at.
  llvm::Expected<GradientError> measure(const Subject &subject,
                                        const Setting &setting,
                                        Measurer &measurer) const;

  /// Returns "@fc1.weight", for the op that reads it.
  std::string parameter(int64_t number) const;
  /// Returns the first op that computes with it.
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
