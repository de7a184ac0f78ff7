//===- OpSamples.h - every differentiable op, as functions to compile -----===//
//
// Iterates the registry: an op with a gradient is found without being named, by
// the samples it gives of itself.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_OPSAMPLES_H
#define MP_TEST_UNIT_OPSAMPLES_H

#include "GoldenFunction.h"
#include "dialect/Mp.h"
#include "mlir/IR/MLIRContext.h"

namespace mp {

/// A context that knows the dialect.
mlir::MLIRContext &sampleContext();

/// All samples of all ops with a gradient; an op without one is a failure of
/// the running test, and is named.
std::vector<OpSample> differentiableSamples();

/// A module's text with the gradient of @`function` beside it; what does not
/// parse, or has no gradient, fails the running test.
std::string differentiated(llvm::StringRef module, llvm::StringRef function);

/// A sample as text: its operands' values, and two modules of them. `forward`
/// has @f that returns the op's result; `backward` has @f that returns
/// sum(weights * result), and @f.gradient.
struct SampleModules {
  std::vector<mlir::RankedTensorType> types;
  std::vector<Numbers> operands;
  std::string forward, backward;
};

/// In f64 as the op gives it; nothing where the op does not take it so.
std::optional<SampleModules> sampleModules(const OpSample &sample);

/// The same with other floats ("f16") and, where the op allows, with sizes that
/// are larger and odd.
std::optional<SampleModules> sampleModules(const OpSample &sample,
                                           llvm::StringRef floats);

} // namespace mp

#endif // MP_TEST_UNIT_OPSAMPLES_H
