//===- CheckpointNames.h - the checkpoints of a run folder ------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_CHECKPOINTNAMES_H
#define MP_RUNTIME_TRAIN_CHECKPOINTNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mp {

/// How the names of all checkpoints in a run folder begin.
inline constexpr llvm::StringLiteral kCheckpointBeginning = "checkpoint.";
/// The names of checkpoints in a run folder: the newest; the one that it
/// replaced; and the best, by the score that is monitored. A run may also keep
/// its last ones by their steps.
inline constexpr llvm::StringLiteral kNewestCheckpoint =
    "checkpoint.safetensors";
inline constexpr llvm::StringLiteral kPreviousCheckpoint =
    "checkpoint.previous.safetensors";
inline constexpr llvm::StringLiteral kBestCheckpoint =
    "checkpoint.best.safetensors";

/// Returns "checkpoint.step-1200.safetensors".
std::string checkpointOfStep(int64_t step);
/// Returns the name of a checkpoint after a new run has begun in the folder:
/// "checkpoint.earlier-run.best.safetensors".
std::string ofEarlierRun(llvm::StringRef name);

/// Returns the steps of the checkpoints in the folder that are named by them,
/// in order.
std::vector<int64_t> stepsOfCheckpoints(llvm::StringRef folder);
/// Returns the paths of all checkpoints of an earlier run in the folder.
std::vector<std::string> earlierCheckpoints(llvm::StringRef folder);
/// Returns the paths of all checkpoints in the folder: the newest, the one
/// before it, the best, then the others by name.
std::vector<std::string> checkpointsIn(llvm::StringRef folder);

/// Returns `path`, or the newest checkpoint inside it if it is a folder.
std::string checkpointPath(llvm::StringRef path);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_CHECKPOINTNAMES_H
