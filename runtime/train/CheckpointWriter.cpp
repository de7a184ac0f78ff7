//===- CheckpointWriter.cpp - checkpoint.safetensors of a run -------------===//
#include "runtime/train/CheckpointWriter.h"
#include "runtime/train/RunCheckpoint.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mp {

Error CheckpointWriter::begin() {
  saved = run.state.step;
  replaces = run.state.step == 0;
  return Error::success();
}

int64_t CheckpointWriter::nextPause() const {
  return run.writes() ? nextMultiple(run.state.step, run.checkpointEvery())
                      : never;
}

Error CheckpointWriter::stepFinished(StepMetrics &) {
  // After going back to its beginning, a run has no file of that state.
  if (!run.hasSaved)
    saved.reset();
  return run.writes() && run.state.step % run.checkpointEvery() == 0
             ? save()
             : Error::success();
}

Error CheckpointWriter::stepsEnded(bool interrupted) {
  if (!run.writes() || (saved == run.state.step && sys::fs::exists(path())))
    return Error::success();
  return save();
}

/// Metrics reach the disk before the checkpoint that covers them, so that no
/// line is missing after a resume.
Error CheckpointWriter::save() {
  metrics.flush();
  if (Error error = std::exchange(replaces, false) ? saveKeepingEarlier()
                                                   : saveKeepingPrevious())
    return error;
  saved = run.state.step;
  run.hasSaved = true;
  return Error::success();
}

/// Whether the newest checkpoint in the folder was written or read by this run,
/// and so is known to be whole.
bool CheckpointWriter::isKnown() const {
  return run.hasSaved ||
         (!run.options.resume.empty() &&
          sys::fs::equivalent(checkpointPath(run.options.resume), path()));
}

/// Keeps the newest checkpoint beside the one that replaces it, for the day on
/// which a disk damages that.
Error CheckpointWriter::saveKeepingPrevious() {
  if (isKnown() && sys::fs::exists(path()))
    if (Error error = linkAs(path(), run.path(kPreviousCheckpoint)))
      // Without links, a run keeps one checkpoint.
      consumeError(std::move(error));
  return saveRun(run, path());
}

/// Replaces the checkpoint of an earlier run in the same folder, which gets
/// another name first, so that a forgotten --resume does not lose it.
Error CheckpointWriter::saveKeepingEarlier() {
  std::string earlier = run.path(kEarlierRunCheckpoint);
  std::string previous = run.path(kPreviousCheckpoint);
  if (sys::fs::exists(path())) {
    Error error = linkAs(path(), earlier);
    std::error_code failed;
    if (error) {
      consumeError(std::move(error));
      failed = sys::fs::copy_file(path(), earlier);
    }
    if (failed)
      return makeError("{0}: cannot keep the earlier checkpoint: {1}", earlier,
                       failed.message());
  }
  if (Error error = saveRun(run, path()))
    return error;
  // It is of the earlier run, too.
  if (std::error_code failed = sys::fs::remove(previous))
    return makeError("cannot remove {0}: {1}", previous, failed.message());
  return Error::success();
}

} // namespace mp
