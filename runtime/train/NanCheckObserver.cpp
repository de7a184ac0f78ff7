//===- NanCheckObserver.cpp - reports where steps stop being finite -------===//
#include "runtime/train/NanCheckObserver.h"
#include "runtime/train/RunCheckpoint.h"
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

Error NanCheckObserver::stepFinished(StepMetrics &metrics) {
  if (search.takeBrokenState())
    if (Error error = goBack(metrics))
      return error;
  return tell(metrics);
}

/// Runs again up to the state before the step, which the step has overwritten.
/// The run's bits are the same each time, so the fault is the same, too.
Error NanCheckObserver::goBack(StepMetrics &metrics) {
  steps.drop();
  if (Error error = run.hasSaved
                        ? loadRun(run, run.path("checkpoint.safetensors"))
                        : beginRun(run))
    return error;
  if (run.options.log)
    *run.options.log << "going back from step " << metrics.step << " to step "
                     << run.state.step
                     << ", and on to where it was still finite\n";
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
         << metrics.nonFinite << "\n";
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
  ArrayRef<ValueRange> values = search.values();
  if (values.empty())
    return Error::success();
  if (run.options.log)
    *run.options.log << "values of step " << search.valuesStep() << "\n"
                     << toText(values);
  return run.writes()
             ? run.write("values.json", toJson(search.valuesStep(), values))
             : Error::success();
}

} // namespace mp
