//===- Check.h - gradient rules against central differences ---------------===//
//
// Each sample of an op becomes a scalar function of its operands, loss =
// sum(weights * op(operands)), compiled in f64 together with its gradient by
// mp-autodiff.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PRECISION_GRADIENTS_CHECK_H
#define MP_PRECISION_GRADIENTS_CHECK_H

#include "precision/gradients/Samples.h"

namespace mp::precision {

/// Differences up to this are those of central differences themselves; it is
/// relative to an operand's largest derivative.
inline constexpr double kGradientTolerance = 1e-6;

/// What was found of an op's rule.
struct GradientCheck {
  std::string op;
  size_t samples = 0;
  /// The largest difference, relative to the largest derivative of its operand.
  double difference = 0;
  /// One line for each operand that disagrees, and for each sample that cannot
  /// be run. An op without a sample has one, too.
  std::vector<std::string> faults;
};
GradientCheck checkGradient(mlir::MLIRContext &context,
                            const DifferentiableOp &op);

} // namespace mp::precision

#endif // MP_PRECISION_GRADIENTS_CHECK_H
