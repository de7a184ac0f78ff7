//===- NanCheckObserver.cpp - reports where steps stop being finite -------===//
#include "runtime/train/NanCheckObserver.h"
#include "runtime/train/CheckpointNames.h"
#include "runtime/train/RunCheckpoint.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mp {

Error NanCheckObserver::open() {
  std::string path = run.path("non-finite.jsonl");
  bool looks = !run.options.nanCheck.empty();
  if (!looks && !sys::fs::exists(path))
    return Error::success();
  auto opened = MetricsFile::open(path, run.state.step);
  if (!opened)
    return opened.takeError();
  if (looks)
    file.emplace(std::move(*opened));
  return Error::success();
}

Error NanCheckObserver::begin() {
  checked = run.state.step;
  bool isResumed = !run.options.resume.empty();
  if (Error error = state.begin(run.session(), isResumed))
    return error;
  if (!isResumed)
    return Error::success();
  auto broken = state.firstBroken(run.session());
  if (!broken)
    return broken.takeError();
  if (!broken->empty())
    return makeError("{0}: {1} in it is not finite, so that there is nothing "
                     "to go on with; resume an earlier checkpoint",
                     checkpointPath(run.options.resume), *broken);
  return Error::success();
}

/// With records of each step, a state that is not finite is noticed at once.
static bool hasRecords(const TrainingRun &run) {
  return !run.options.nanCheck.empty();
}

int64_t NanCheckObserver::nextPause() const {
  return hasRecords(run) ? never
                         : nextMultiple(run.state.step, run.checkpointEvery());
}

Error NanCheckObserver::stepFinished(StepMetrics &metrics) {
  if (search.takeBrokenState())
    if (Error error = goBack(metrics))
      return error;
  if (run.state.step % run.checkpointEvery() == 0)
    if (Error error = checkState())
      return error;
  return tell(metrics);
}

/// Ends the run if the state is no longer finite, and leaves the state from
/// before the step that made it so.
Error NanCheckObserver::checkState() {
  if (hasRecords(run) || checked == run.state.step)
    return Error::success();
  checked = run.state.step;
  auto broken = state.firstBroken(run.session());
  if (!broken)
    return broken.takeError();
  if (broken->empty())
    return Error::success();
  int64_t last = run.state.step;
  progress.endLine();
  if (run.options.log)
    *run.options.log << withoutControls(*broken) << " is not finite after step "
                     << last << "\n";
  if (Error error = restoreSaved(last))
    return error;
  auto step = findBrokenStep(last);
  if (!step)
    return step.takeError();
  run.gaveUp = formatv("step {0} made {1} not finite", *step, *broken);
  StepMetrics metrics;
  metrics.step = *step;
  if (Error error = goBack(metrics))
    return error;
  return tell(metrics);
}

/// Runs again, at most to the step `last`, until the state is not finite.
Expected<int64_t> NanCheckObserver::findBrokenStep(int64_t last) {
  while (run.state.step < last && !run.isInterrupted()) {
    if (Error error = steps.repeat())
      return std::move(error);
    auto broken = state.firstBroken(run.session());
    if (!broken)
      return broken.takeError();
    if (!broken->empty())
      return run.state.step;
  }
  return last;
}

Error NanCheckObserver::restoreSaved(int64_t from) {
  steps.drop();
  if (Error error = run.hasSaved
                        ? loadRun(run, run.path("checkpoint.safetensors"))
                        : beginRun(run))
    return error;
  if (run.options.log)
    *run.options.log << "going back from step " << from << " to step "
                     << run.state.step
                     << ", and on to where it was still finite\n";
  return Error::success();
}

/// Runs again up to the state before the step, which the step has overwritten.
/// The run's bits are the same each time, so the fault is the same, too.
Error NanCheckObserver::goBack(StepMetrics &metrics) {
  if (Error error = restoreSaved(metrics.step))
    return error;
  while (run.state.step < metrics.step - 1 && !run.isInterrupted())
    if (Error error = steps.repeat())
      return error;
  // If every op was recorded, or the run was interrupted, a replay would tell
  // nothing new.
  if (search.seesEveryOp() || run.isInterrupted())
    return Error::success();
  return search.lookFromBefore(metrics);
}

Error NanCheckObserver::tell(const StepMetrics &metrics) {
  if (metrics.nonFinite.empty())
    return Error::success();
  constexpr int64_t most = 10;
  if (raw_ostream *log = run.options.log; log && ++told <= most) {
    progress.endLine();
    *log << "step " << metrics.step << " is not finite, beginning with "
         << withoutControls(metrics.nonFinite) << "\n";
    if (told == most)
      *log << "further ones are not shown"
           << (run.writes() ? ", but in non-finite.jsonl" : "") << "\n";
  }
  if (!file)
    return Error::success();
  file->add(metrics.step, toJson(*search.origin()));
  return file->flush();
}

Error NanCheckObserver::stepsEnded(bool interrupted) {
  if (run.gaveUp.empty())
    if (Error error = checkState())
      return error;
  ArrayRef<ValueRange> values = search.values();
  if (values.empty())
    return Error::success();
  if (run.options.log)
    *run.options.log << "values of step " << search.valuesStep() << "\n"
                     << withoutControls(toText(values));
  return run.writes()
             ? run.write("values.json", toJson(search.valuesStep(), values))
             : Error::success();
}

} // namespace mp
