//===- Measure.h - what a variant computes, and what its step takes -------===//
#ifndef MP_TOOLS_COMPARE_MEASURE_H
#define MP_TOOLS_COMPARE_MEASURE_H

#include "tools/common/Common.h"
#include "tools/common/Step.h"
#include "tools/compare/Difference.h"
#include "tools/compare/Variant.h"

namespace mp::tool {

/// What all variants of a subject are run with.
struct MeasureOptions {
  std::string module, data, init;
  uint64_t batch = 32, batches = 1, seed = 0;
  uint64_t totalSteps = 0; ///< that schedules are planned for
  CommonOptions common;
};

/// The step as training runs it, or the function where there is no recipe.
struct StepFacts {
  std::string whyNot;              ///< there is none; "" where there is
  uint64_t kernels = 0, bytes = 0; ///< launches, and what they read and write
  uint64_t skipped = 0;            ///< steps, for gradients that overflowed
  std::vector<double> microseconds;
};

/// A step that is ready to be run and timed.
class TimedStep {
public:
  /// Runs it once; adds its time to the facts where that `counts`.
  llvm::Error run(bool counts);
  /// Forgets its times, and begins training anew: where it has gone on for long
  /// on one batch, numbers are so small that steps take another time.
  llvm::Error restart();
  StepFacts facts;

private:
  friend class Measurer;
  std::unique_ptr<Model> model;
  StepProgram program;
  llvm::ArrayRef<const void *> inputs;
  uint64_t seed = 0;
};

/// Compiles and runs variants. What one has compiled serves the next.
class Measurer {
public:
  Measurer(MeasureOptions options, const Subject &subject);
  ~Measurer();

  /// What the variant returns, of each batch; in f64 on the CPU.
  llvm::Expected<std::vector<Values>> evaluate(const Setting &setting,
                                               const Variant &variant);
  llvm::Expected<std::unique_ptr<TimedStep>> prepare(const Setting &setting);
  /// Launches and bytes of the steps, which are compiled but not run, several
  /// at a time.
  llvm::Expected<std::vector<StepFacts>>
  count(llvm::ArrayRef<Setting> settings);

  /// Says a line once, whichever variant it comes from.
  std::function<void(llvm::StringRef)> tell;
  std::string device, where; ///< of the last variant that was not in f64

private:
  struct Store;
  struct Inputs {
    std::vector<TensorType> types;
    std::vector<StepInputs> batches;
  };

  /// A model of the module; with `prepared` its functions are those of that
  /// text.
  llvm::Expected<std::unique_ptr<Model>> open(const Setting &setting,
                                              const std::string *prepared);
  /// The batches, made once for each set of types.
  llvm::Expected<llvm::ArrayRef<StepInputs>> inputsOf(Model &model,
                                                      const Entry &entry);

  const MeasureOptions options;
  const Subject &subject;
  Compiler compiler;
  std::shared_ptr<Store> store;
  std::unique_ptr<Model> counter; ///< whose options steps are counted with
  std::vector<std::unique_ptr<Inputs>> inputs;
};

/// A line for a person, each said once; from any thread.
std::function<void(llvm::StringRef)> noteOnce();

} // namespace mp::tool

#endif // MP_TOOLS_COMPARE_MEASURE_H
