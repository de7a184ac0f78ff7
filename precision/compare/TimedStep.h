//===- TimedStep.h - a step that is run and timed -------------------------===//
#ifndef MP_PRECISION_COMPARE_TIMEDSTEP_H
#define MP_PRECISION_COMPARE_TIMEDSTEP_H

#include "runtime/train/StepInputs.h"
#include "runtime/train/StepProgram.h"

namespace mp::precision {

/// The step as training runs it, or the function if there is no recipe.
struct StepFacts {
  std::string whyNot; ///< why there is none; "" if there is one
  uint64_t kernels = 0,
           bytes = 0;   ///< launches, and the bytes that they read and write
  uint64_t skipped = 0; ///< steps with gradients that overflowed
  std::vector<double> microseconds; ///< of the others
};

/// A loss scale at which steps are applied.
struct SettledScale {
  double scale = 1;
  double first = 1;     ///< the one that training begins with
  uint64_t skipped = 0; ///< steps between the two
};

/// Returns "gradients overflow at the first loss scale, 4294967296; 17 skipped
/// steps lead to 131072".
std::string toText(const SettledScale &settled);

/// A step that is ready to be run and timed.
class TimedStep {
public:
  /// Runs it once; adds its time to the facts if it `counts` and the step was
  /// applied.
  llvm::Error run(bool counts);
  /// Discards its times, and begins training anew, at the loss scale that it
  /// has settled at: after many steps on one batch, numbers are so small that
  /// steps take another time.
  llvm::Error restart();
  StepFacts facts;

private:
  friend class Measurer;
  struct Outcome {
    double loss = 0, scale = 1;
    bool isSkipped = false;
  };
  using State = std::vector<std::pair<std::string, std::vector<char>>>;

  /// Lowers the scale from the scaler's first one as training would, by the
  /// scaler's own updates, until a step of each batch is applied; each batch
  /// starts from the first weights. Returns nothing if that never happens; the
  /// facts tell why.
  llvm::Expected<std::optional<SettledScale>>
  settle(llvm::ArrayRef<StepInputs> batches);
  llvm::Expected<Outcome> step(llvm::ArrayRef<TensorView> inputs);
  llvm::Expected<State> scalerState();
  /// Makes the scaler begin with `firstScale`, if one was given.
  llvm::Error setFirstScale();

  std::unique_ptr<Model> model;
  StepProgram program;
  llvm::ArrayRef<TensorView> inputs;
  uint64_t seed = 0;
  std::string init; ///< file of weights, or ""
  std::optional<double> firstScale;
  State settled; ///< the scaler's
};

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_TIMEDSTEP_H
