//===- MetricsWriter.cpp - metrics.jsonl of a run -------------------------===//
#include "runtime/train/MetricsWriter.h"

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

void MetricsWriter::flush() {
  flushed = Clock::now();
  if (!file)
    return;
  Error error = file->flush();
  std::string text = error ? toString(std::move(error)) : "";
  if (raw_ostream *log = run.options.log; log && text.empty() == hasWarned) {
    progress.endLine();
    if (hasWarned)
      *log << "note: metrics.jsonl is written again\n";
    else
      *log << "note: " << text
           << "; the run goes on, and its lines are kept until there is room\n";
  }
  hasWarned = !text.empty();
}

Error MetricsWriter::runEnded(const TrainOutcome &) {
  return file && file->hasPending() ? file->flush() : Error::success();
}

} // namespace mp
