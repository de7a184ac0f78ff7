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
  return run.saves() ? nextMultiple(run.state.step, run.checkpointEvery())
                     : never;
}

Error CheckpointWriter::stepFinished(StepMetrics &) {
  // After going back to its beginning, a run has no file of that state.
  if (!run.hasSaved)
    saved.reset();
  if (!run.saves())
    return Error::success();
  if (run.state.step % run.checkpointEvery() == 0)
    if (Error error = save())
      return error;
  return saveBest();
}

Error CheckpointWriter::stepsEnded(bool interrupted) {
  bool exists = !run.writes() || sys::fs::exists(path());
  if (!run.saves() || (saved == run.state.step && exists))
    return Error::success();
  return save();
}

/// Metrics reach the disk before the checkpoint that covers them, so that no
/// line is missing after a resume.
Error CheckpointWriter::save() {
  metrics.flush();
  if (!run.writes())
    return give(path());
  if (Error error = std::exchange(replaces, false) ? saveKeepingEarlier()
                                                   : saveKeepingPrevious())
    return error;
  saved = run.state.step;
  run.hasSaved = true;
  return keepLast();
}

/// Gives rank 0 what it writes of the other ranks' state.
Error CheckpointWriter::give(const std::string &path) {
  if (Error error = saveRun(run, path))
    return error;
  saved = run.state.step;
  run.hasSaved = true;
  return Error::success();
}

/// Gives a file another name too, or copies it where the file system has no
/// links.
static Error linkOrCopy(const std::string &from, const std::string &to) {
  Error error = linkAs(from, to);
  if (!error)
    return error;
  consumeError(std::move(error));
  if (std::error_code failed = sys::fs::copy_file(from, to))
    return makeError("{0}: cannot keep a checkpoint: {1}", to,
                     failed.message());
  return Error::success();
}

static Error removeFile(const std::string &path) {
  if (std::error_code failed = sys::fs::remove(path))
    return makeError("cannot remove {0}: {1}", path, failed.message());
  return Error::success();
}

/// Keeps the state if its evaluation is the best so far.
Error CheckpointWriter::saveBest() {
  const RunState &state = run.state;
  bool isBest = state.bestStep > 0 && state.bestStep == state.step &&
                state.evaluated == state.step;
  if (!isBest || best == state.step)
    return Error::success();
  best = state.step;
  std::string to = run.path(kBestCheckpoint);
  if (!run.writes())
    return saved == state.step ? Error::success() : saveRun(run, to);
  return saved == state.step ? linkOrCopy(path(), to) : saveRun(run, to);
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

/// Keeps the newest checkpoint under the name of its step too, and removes the
/// one that is older than the last `keepLast`.
Error CheckpointWriter::keepLast() {
  if (run.options.keepLast == 0)
    return Error::success();
  if (Error error =
          linkOrCopy(path(), run.path(checkpointOfStep(run.state.step))))
    return error;
  auto steps = stepsOfCheckpoints(run.options.out);
  for (int64_t step : ArrayRef(steps).drop_back(
           std::min<size_t>(run.options.keepLast, steps.size())))
    if (Error error = removeFile(run.path(checkpointOfStep(step))))
      return error;
  return Error::success();
}

/// Replaces the checkpoints of an earlier run in the same folder, which get
/// other names first, so that a forgotten --resume does not lose them. Those of
/// a run before that are removed.
Error CheckpointWriter::saveKeepingEarlier() {
  std::vector<std::string> names = {kNewestCheckpoint.str(),
                                    kBestCheckpoint.str()};
  for (int64_t step : stepsOfCheckpoints(run.options.out))
    names.push_back(checkpointOfStep(step));
  llvm::erase_if(names, [&](const std::string &name) {
    return !sys::fs::exists(run.path(name));
  });
  // Without others to take their place, those of the run before stay.
  if (!names.empty())
    for (const std::string &old : earlierCheckpoints(run.options.out))
      if (Error error = removeFile(old))
        return error;
  for (const std::string &name : names)
    if (Error error = linkOrCopy(run.path(name), run.path(ofEarlierRun(name))))
      return error;
  if (Error error = saveRun(run, path()))
    return error;
  names.push_back(kPreviousCheckpoint.str());
  for (const std::string &name : names)
    if (name != kNewestCheckpoint)
      if (Error error = removeFile(run.path(name)))
        return error;
  return Error::success();
}

} // namespace mp
