//===- StepReplay.h - replays one step with a record of each op -----------===//
#ifndef MP_RUNTIME_TRAIN_STEPREPLAY_H
#define MP_RUNTIME_TRAIN_STEPREPLAY_H

#include "runtime/numerics/NanCheck.h"
#include "runtime/train/TrainingRun.h"

namespace mp {

/// The state that a replayed step starts from.
enum class ReplayFrom {
  StateBefore, ///< the state before the step
  /// The state after the step, which was the last one and was skipped. State
  /// that every step attempt changes is rewound.
  StateAfterSkip,
};

/// Runs a step, counted from 0, in a form that changes no state, and returns
/// its non-finite origin. The first call compiles this form.
llvm::Expected<std::optional<NonFiniteOrigin>>
replayStep(TrainingRun &run, int64_t step, ReplayFrom from);

/// Adds to the origin the samples in which it was found: those of a micro-batch
/// of the step (counted from 0), or of the whole step.
void describeSamples(const TrainingRun &run, NonFiniteOrigin &origin,
                     int64_t step, std::optional<int64_t> micro);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_STEPREPLAY_H
