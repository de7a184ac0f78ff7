//===- MetricsWriter.cpp - metrics.jsonl of a run -------------------------===//
#include "runtime/train/MetricsWriter.h"

using namespace llvm;

namespace mp {

Error MetricsWriter::begin() {
  flushed = Clock::now();
  return Error::success();
}

Error MetricsWriter::stepFinished(StepMetrics &metrics) {
  lines.add(metrics.step, toJson(metrics));
  if (Clock::now() - flushed > std::chrono::seconds(1))
    flush();
  return Error::success();
}

void MetricsWriter::flush() {
  flushed = Clock::now();
  lines.flush();
}

} // namespace mp
