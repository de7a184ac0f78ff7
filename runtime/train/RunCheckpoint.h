//===- RunCheckpoint.h - saves and restores a run ---------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNCHECKPOINT_H
#define MP_RUNTIME_TRAIN_RUNCHECKPOINT_H

#include "runtime/train/TrainingRun.h"

namespace mp {

/// Writes a checkpoint of the current state; call it between two steps.
llvm::Error saveRun(TrainingRun &run, llvm::StringRef path);

/// Moves to the state of a checkpoint of the same graph, data and batch, and
/// says which bits may differ from now on. No step may be under way.
llvm::Error restoreRun(TrainingRun &run, const Checkpoint &checkpoint);
llvm::Error loadRun(TrainingRun &run, llvm::StringRef path);

/// Moves to the first step: that of the checkpoint that the run resumes, or
/// step 0 with initial weights.
llvm::Error beginRun(TrainingRun &run);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNCHECKPOINT_H
