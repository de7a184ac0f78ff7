//===- Measure.h - results and step times of variants ---------------------===//
#ifndef MP_PRECISION_COMPARE_MEASURE_H
#define MP_PRECISION_COMPARE_MEASURE_H

#include "precision/compare/Difference.h"
#include "precision/compare/TimedStep.h"
#include "precision/compare/Variant.h"
#include "program/Compiler.h"

namespace mp::precision {

/// The device that variants run on, and the settings that compile them.
struct Execution {
  std::string precision;       ///< of settings without one
  std::string device = "auto"; ///< a device as in chooseDevice
  std::string plan;            ///< path of a tuning plan, for a CUDA device
  unsigned threads = 0;        ///< 0: one for each core
  bool onednn = false;
  Compiler compiler;
  /// Receives notes for the user; from any thread.
  std::function<void(llvm::StringRef)> onNote;
};

/// The common inputs of all variants of a subject.
struct MeasureOptions {
  std::string module, data, init;
  uint64_t batch = 32, batches = 1, seed = 0;
  uint64_t totalSteps = 0; ///< the length that schedules are planned for
  /// Replaces the scaler's first loss scale; gradients are then at this one,
  /// even if they overflow.
  std::optional<double> scale = std::nullopt;
  Execution execution;
};

/// Compiles and runs variants. Kernels compiled for one serve the next.
class Measurer {
public:
  Measurer(MeasureOptions options, const Subject &subject);
  ~Measurer();

  /// Returns the variant's results, for each batch; in f64 on the CPU.
  llvm::Expected<std::vector<Values>> evaluate(const Setting &setting,
                                               const Variant &variant);
  /// Prepares a step at a loss scale at which it is applied. If there is none,
  /// its facts tell why not.
  llvm::Expected<std::unique_ptr<TimedStep>> prepare(const Setting &setting);
  /// Returns the loss scale that training reaches by skipped steps, for
  /// gradients that overflow at `scale`. Returns nothing if there is no lower
  /// one, one was given, or training refuses the setting.
  llvm::Expected<std::optional<SettledScale>>
  settleBelow(const Setting &setting, double scale);
  /// Counts launches and bytes of the steps, which are compiled but not run,
  /// several at a time.
  llvm::Expected<std::vector<StepFacts>>
  count(llvm::ArrayRef<Setting> settings);

  /// Prints a line once, whichever variant it comes from.
  std::function<void(llvm::StringRef)> tell;
  std::string device, where; ///< of the last variant that was not in f64

private:
  struct Store;
  struct Inputs {
    std::vector<TensorType> types;
    std::vector<StepInputs> batches;
  };

  /// Opens a step that has not settled, and all batches.
  llvm::Expected<std::unique_ptr<TimedStep>>
  openStep(const Setting &setting, llvm::ArrayRef<StepInputs> &batches);
  /// Opens a model of the module; with `prepared` its functions are those of
  /// that text.
  llvm::Expected<std::unique_ptr<Model>> open(const Setting &setting,
                                              const std::string *prepared);
  /// Returns the batches, made once for each set of types.
  llvm::Expected<llvm::ArrayRef<StepInputs>> inputsOf(Model &model,
                                                      const Entry &entry);

  const MeasureOptions options;
  const Subject &subject;
  Compiler compiler;
  std::shared_ptr<Store> store;
  std::unique_ptr<Model> counter; ///< a model whose options count steps
  std::vector<std::unique_ptr<Inputs>> inputs;
};

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_MEASURE_H
