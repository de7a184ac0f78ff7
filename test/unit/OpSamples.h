//===- OpSamples.h - every differentiable op, as functions to compile -----===//
//
// Iterates the registry: an op with a gradient is found without being named, by
// the samples that it gives of itself.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_OPSAMPLES_H
#define MP_TEST_UNIT_OPSAMPLES_H

#include "GoldenFunction.h"
#include "mlir/IR/MLIRContext.h"
#include "precision/gradients/Samples.h"

namespace mp::precision {
/// GoogleTest names tests by it.
inline void PrintTo(const DifferentiableOp &op, std::ostream *os) {
  *os << op.name;
}
} // namespace mp::precision

namespace mp {

/// A context that knows the dialect.
mlir::MLIRContext &sampleContext();

using precision::DifferentiableOp, precision::SampleModules;
std::vector<DifferentiableOp> differentiableOps();

/// Returns the samples of all ops with a gradient.
std::vector<OpSample> differentiableSamples();

/// Returns a module's text with the gradient of @`function` beside it; a module
/// that does not parse, or has no gradient, fails the running test.
std::string differentiated(llvm::StringRef module, llvm::StringRef function);

/// Returns the sample in f64; nothing if the op does not take it so.
std::optional<SampleModules> sampleModules(const OpSample &sample);

/// Returns the sample with other floats ("f16") and, if the op allows it, with
/// sizes that are larger and odd.
std::optional<SampleModules> sampleModules(const OpSample &sample,
                                           llvm::StringRef floats);

/// A function of a module, compiled. If it does not compile, the running test
/// fails.
class SampleFunction {
public:
  SampleFunction(llvm::StringRef module, llvm::StringRef name);
  bool isReady() { return bool(compiled); }
  std::vector<Numbers> operator()(llvm::ArrayRef<Numbers> operands);

private:
  llvm::Expected<GoldenFunction> compiled;
};

} // namespace mp

#endif // MP_TEST_UNIT_OPSAMPLES_H
