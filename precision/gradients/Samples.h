//===- Samples.h - ops with a gradient, as functions to compile -----------===//
//
// An op with a gradient is found without being named, by the samples that it
// gives of itself: those of the dialect and those of plugins.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PRECISION_GRADIENTS_SAMPLES_H
#define MP_PRECISION_GRADIENTS_SAMPLES_H

#include "dialect/Mp.h"
#include "precision/gradients/NumberFunction.h"

namespace mp::precision {

/// An op with a gradient, and its samples.
struct DifferentiableOp {
  std::string name; ///< "mp.exp"
  std::vector<OpSample> samples;
};
/// Returns those of all dialects that the context has loaded.
std::vector<DifferentiableOp> differentiableOps(mlir::MLIRContext &context);

/// A sample as text: its operands' values, and two modules of them. `forward`
/// has @f that returns the op's results; `backward` has @f that returns the sum
/// of weights * result over all of them, and @f.gradient.
struct SampleModules {
  std::vector<mlir::RankedTensorType> types;
  std::vector<Numbers> operands;
  std::string forward, backward;
};
/// Returns the sample in f64. Fails with the diagnostics if the op does not
/// parse or has no gradient.
llvm::Expected<SampleModules> makeModules(mlir::MLIRContext &context,
                                          const OpSample &sample);

} // namespace mp::precision

#endif // MP_PRECISION_GRADIENTS_SAMPLES_H
