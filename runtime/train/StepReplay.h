//===- StepReplay.h - one step again, looked at op by op --------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_STEPREPLAY_H
#define MP_RUNTIME_TRAIN_STEPREPLAY_H

#include "runtime/numerics/NanCheck.h"
#include "runtime/train/TrainingRun.h"

namespace mp {

/// Which state a replayed step finds.
enum class ReplayFrom {
  StateBefore, ///< that before the step
  /// That after the step, which was the last and was skipped. What every step
  /// attempt changes is rewound.
  StateAfterSkip,
};

/// Runs a step, which counts from 0, in a form that changes no state, and
/// returns where its values stop being finite. Compiles that form when it is
/// first asked for.
llvm::Expected<std::optional<NonFiniteOrigin>>
replayStep(TrainingRun &run, int64_t step, ReplayFrom from);

/// Says which samples the origin was found in: those of a micro-batch of the
/// step, which counts from 0, or of all of the step.
void describeSamples(const TrainingRun &run, NonFiniteOrigin &origin,
                     int64_t step, std::optional<int64_t> micro);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPREPLAY_H
