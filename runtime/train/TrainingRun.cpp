//===- TrainingRun.cpp - the facts of a training run ----------------------===//
#include "runtime/train/TrainingRun.h"
#include "runtime/train/CheckpointNames.h"
#include "runtime/train/Interrupt.h"
#include "runtime/train/RunSettings.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

int TrainingRun::interruption() const {
  if (options.ranks)
    return agreedSignal;
  return interrupt ? interrupt->requested() : 0;
}

Error TrainingRun::dataError() const {
  if (dataProblem.empty())
    return Error::success();
  return makeError("{0}; {1}", dataProblem,
                   writes() ? formatv("the state of step {0} is saved in {1}",
                                      state.step, options.out)
                                  .str()
                            : "nothing is saved as there is no --out");
}

Error TrainingRun::explain(Error error) const {
  return joinErrors(trainData->check(), std::move(error));
}

void TrainingRun::noteReplacedFiles() const {
  for (const auto *data : {&trainData, &testData})
    if (options.log && *data)
      for (const std::string &path : (*data)->replacedFiles())
        *options.log << "note: another file, or none, is named " << path
                     << " now; this run has used the one that it had opened\n";
}

int64_t TrainingRun::lastStep() const {
  return options.maxSteps > 0 ? std::min(options.maxSteps, totalSteps())
                              : totalSteps();
}

int64_t TrainingRun::checkpointEvery() const {
  return options.checkpointEvery > 0 ? options.checkpointEvery
                                     : plan.stepsPerEpoch();
}

PrefetchOptions TrainingRun::batches(int64_t first, int64_t last) const {
  return {.plan = plan,
          .seed = state.seed,
          .shuffle = state.shuffle,
          .firstStep = first,
          .lastStep = last};
}

std::string TrainingRun::path(StringRef name) const {
  SmallString<256> path(options.out);
  sys::path::append(path, name);
  return path.str().str();
}

Error TrainingRun::write(StringRef name, StringRef text) const {
  return writeAtomically(path(name),
                         [&](OutputFile &file) { return file.write(text); });
}

Error TrainingRun::makeFolder() {
  if (std::error_code code = sys::fs::create_directories(options.out))
    return makeError("cannot make run folder {0}: {1}", options.out,
                     code.message());
  if (!lock) {
    auto taken = FolderLock::take(options.out);
    if (!taken)
      return taken.takeError();
    lock.emplace(std::move(*taken));
  }
  removeAbandonedIn(options.out, kCheckpointBeginning);
  // Files that an earlier run wrote at its end are removed, as users also look
  // at runs that have not ended.
  for (StringRef name :
       {"summary.json", "report.html", "values.json", "confusion.json"})
    if (std::string old = path(name);
        state.step == 0 && sys::fs::is_regular_file(old))
      if (std::error_code code = sys::fs::remove(old))
        return makeError("cannot remove {0}: {1}", old, code.message());
  if (const std::optional<PlanReport> &memory = model->memoryPlan()) {
    PlanReport report = *memory;
    report.policy = state.policy;
    if (Error error = write("plan.json", toJson(report)))
      return error;
  }
  return casts.empty() ? Error::success() : write("casts.json", casts + "\n");
}

Summary TrainingRun::summarize(double trainSeconds) const {
  Summary summary;
  if (state.epochLossCount)
    summary.trainLoss = state.epochLossSum / state.epochLossCount;
  summary.steps = state.step;
  summary.skippedSteps = state.skippedSteps;
  summary.monitor = state.monitor;
  summary.bestScore = state.bestScore;
  summary.bestStep = state.bestStep;
  summary.stopped = stopped;
  summary.finalScale = state.lastScale;
  summary.compileSeconds = compileSeconds;
  summary.trainSeconds = trainSeconds;
  summary.dataWaitSeconds = dataWaitSeconds;
  summary.plannedBytes = session().plannedBytes();
  summary.peakRssBytes = peakRssBytes();
  summary.precision =
      state.precision.empty() ? model->precision() : state.precision;
  summary.module = model->moduleName();
  summary.file = options.module;
  summary.recipe = options.function;
  summary.policy = state.policy;
  summary.insertPasses = state.insertPasses;
  summary.settings = furtherSettings(state.settings());
  summary.scaler = scaler;
  summary.batch = state.batch;
  summary.accumulate = state.accumulate;
  if (plan.buckets)
    summary.buckets = plan.buckets->all();
  summary.device = model->device();
  CompileCounts kernels = model->compileCounts();
  summary.kernelCacheHits = kernels.hits;
  summary.kernelCacheMisses = kernels.misses;
  summary.kernelCompileSeconds = kernels.seconds;
  summary.seed = state.seed;
  return summary;
}

} // namespace mp
