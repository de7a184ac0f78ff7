//===- RunCheckpoint.h - a run from and to its checkpoints ------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNCHECKPOINT_H
#define MP_RUNTIME_TRAIN_RUNCHECKPOINT_H

#include "runtime/train/TrainingRun.h"

namespace mp {

/// Writes a checkpoint of this moment, between two steps.
llvm::Error saveRun(TrainingRun &run, llvm::StringRef path);

/// Goes back to (or on from) a checkpoint of the same graph, data and batch,
/// and says which bits may differ from now on. No step may be under way.
llvm::Error restoreRun(TrainingRun &run, const Checkpoint &checkpoint);
llvm::Error loadRun(TrainingRun &run, llvm::StringRef path);

/// Goes to the first step: that of the checkpoint that the run resumes, or with
/// initial weights.
llvm::Error beginRun(TrainingRun &run);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNCHECKPOINT_H
