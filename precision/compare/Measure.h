//===- Measure.h - what a variant computes, and what its step takes -------===//
#ifndef MP_PRECISION_COMPARE_MEASURE_H
#define MP_PRECISION_COMPARE_MEASURE_H

#include "precision/compare/Difference.h"
#include "precision/compare/TimedStep.h"
#include "precision/compare/Variant.h"
#include "program/Compiler.h"

namespace mp::precision {

/// Where variants run, and what compiles them.
struct Execution {
  std::string precision;       ///< of settings that name none
  std::string device = "auto"; ///< as of chooseDevice
  std::string plan;            ///< path of a tuning plan, for a CUDA device
  unsigned threads = 0;        ///< 0: one a core
  UseOnednn onednn = UseOnednn::Auto;
  Compiler compiler;
  /// Gets lines for a person; from any thread.
  std::function<void(llvm::StringRef)> onNote;
};

/// What all variants of a subject are run with.
struct MeasureOptions {
  std::string module, data, init;
  uint64_t batch = 32, batches = 1, seed = 0;
  uint64_t totalSteps = 0; ///< that schedules are planned for
  /// Instead of the scaler's first one; gradients are then at this one, though
  /// they overflow.
  std::optional<double> scale = std::nullopt;
  Execution execution;
};

/// Compiles and runs variants. What one has compiled serves the next.
class Measurer {
public:
  Measurer(MeasureOptions options, const Subject &subject);
  ~Measurer();

  /// What the variant returns, of each batch; in f64 on the CPU.
  llvm::Expected<std::vector<Values>> evaluate(const Setting &setting,
                                               const Variant &variant);
  /// A step at a loss scale at which it is applied. Where there is no such one,
  /// its facts say why not.
  llvm::Expected<std::unique_ptr<TimedStep>> prepare(const Setting &setting);
  /// The loss scale that training comes to by skipped steps, for gradients that
  /// overflow at `scale`. Nothing where there is no lower one, one was asked
  /// for, or training refuses the setting.
  llvm::Expected<std::optional<SettledScale>>
  settleBelow(const Setting &setting, double scale);
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

  /// A step that has not settled, and all batches.
  llvm::Expected<std::unique_ptr<TimedStep>>
  openStep(const Setting &setting, llvm::ArrayRef<StepInputs> &batches);
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

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_MEASURE_H
