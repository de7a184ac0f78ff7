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
                                                   : saveRun(run, path()))
    return error;
  saved = run.state.step;
  run.hasSaved = true;
  return Error::success();
}

/// Replaces the checkpoint of an earlier run in the same folder, which gets
/// another name first, so that a forgotten --resume does not lose it.
Error CheckpointWriter::saveKeepingEarlier() {
  std::string previous = run.path("checkpoint.previous.safetensors");
  if (!sys::fs::exists(path()))
    return saveRun(run, path());
  std::error_code failed = sys::fs::remove(previous);
  // If the file system has no links, the file is copied.
  if (!failed && sys::fs::create_hard_link(path(), previous))
    failed = sys::fs::copy_file(path(), previous);
  if (failed)
    return makeError("{0}: cannot keep the earlier checkpoint: {1}", previous,
                     failed.message());
  Error error = saveRun(run, path());
  if (error)
    failed = sys::fs::remove(previous);
  return error;
}

} // namespace mp
