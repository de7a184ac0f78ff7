//===- RunCheckpoint.h - saves and restores a run ---------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNCHECKPOINT_H
#define MP_RUNTIME_TRAIN_RUNCHECKPOINT_H

#include "runtime/train/TrainingRun.h"

namespace mp {

/// Writes a checkpoint. To be called between two steps.
llvm::Error saveRun(TrainingRun &run, llvm::StringRef path);

/// Opens the checkpoint that a run resumes. If the newest in a run folder
/// cannot be read, the error names the one before it, if that is whole.
llvm::Expected<Checkpoint> openToResume(llvm::StringRef path);

/// Restores a checkpoint of the same graph, data and batch, and logs the
/// differences by which the bits of later steps may differ. No step may be in
/// flight.
llvm::Error restoreRun(TrainingRun &run, const Checkpoint &checkpoint);
llvm::Error loadRun(TrainingRun &run, llvm::StringRef path);

/// Prepares the first step: restores the checkpoint that the run resumes, or
/// initialises the weights.
llvm::Error beginRun(TrainingRun &run);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNCHECKPOINT_H
