//===- MetricsWriter.cpp - metrics.jsonl of a run -------------------------===//
#include "runtime/train/MetricsWriter.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

Error MetricsWriter::open() {
  auto opened = MetricsFile::open(run.path("metrics.jsonl"), run.state.step);
  if (!opened)
    return opened.takeError();
  file.emplace(std::move(*opened));
  return Error::success();
}

Error MetricsWriter::begin() {
  flushed = Clock::now();
  return Error::success();
}

Error MetricsWriter::stepFinished(StepMetrics &metrics) {
  if (!file)
    return Error::success();
  file->add(metrics);
  if (Clock::now() - flushed > std::chrono::seconds(1))
    flush();
  return Error::success();
}

void MetricsWriter::say(const Twine &text) {
  if (!run.options.log)
    return;
  progress.endLine();
  *run.options.log << "note: " << withoutControls(text.str()) << "\n";
}

void MetricsWriter::flush() {
  flushed = Clock::now();
  if (!file)
    return;
  Error error = file->flush();
  if (!error) {
    if (std::exchange(hasWarned, false))
      say("metrics.jsonl is written again");
    return;
  }
  std::error_code code;
  std::string text;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    code = info.convertToErrorCode();
    text = info.message();
  });
  if (code == std::errc::broken_pipe) {
    file.reset();
    say(text + "; the run goes on without it");
  } else if (!std::exchange(hasWarned, true))
    say(text + "; the run goes on, and its lines are kept until there is room");
}

Error MetricsWriter::runEnded(const TrainOutcome &) {
  if (file && file->hasPending())
    flush();
  return file && file->hasPending() ? file->flush() : Error::success();
}

} // namespace mp
