//===- StepReplay.h - replays one step with a record of each op -----------===//
#ifndef MP_RUNTIME_TRAIN_STEPREPLAY_H
#define MP_RUNTIME_TRAIN_STEPREPLAY_H

#include "runtime/numerics/NanCheck.h"
#include "runtime/train/TrainingRun.h"

namespace mp {

/// The state that a replayed step starts from.
enum class ReplayFrom {
  StateBefore, ///< the state before the step
  /// The state after the step, which was the last and was skipped. What every
  /// step attempt changes is rewound.
  StateAfterSkip,
};

/// Runs step `step`, counted from 0, in a form that changes no state, and
/// returns where its values stop being finite. That form is compiled at the
/// first call.
llvm::Expected<std::optional<NonFiniteOrigin>>
replayStep(TrainingRun &run, int64_t step, ReplayFrom from);

/// Names the samples that the origin was found in: those of a micro-batch of
/// the step, which is counted from 0, or of the whole step.
void describeSamples(const TrainingRun &run, NonFiniteOrigin &origin,
                     int64_t step, std::optional<int64_t> micro);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPREPLAY_H
