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
  return Clock::now() - flushed > std::chrono::seconds(1) ? flush()
                                                          : Error::success();
}

Error MetricsWriter::flush() {
  flushed = Clock::now();
  return file ? file->flush() : Error::success();
}

} // namespace mp
