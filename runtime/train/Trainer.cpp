//===- Trainer.cpp - trains a module on a folder of data ------------------===//
#include "runtime/train/Trainer.h"
#include "program/Names.h"
#include "runtime/train/Interrupt.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;

namespace mp {

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Says what to add to which line.
static Error noLoss(const Entry &entry, const std::string &module) {
  std::vector<std::string> names;
  for (auto [i, result] : llvm::enumerate(entry.results))
    if (isScalar(result) && !result.name.empty() && !isOfRecord(entry, i))
      names.push_back(result.name);
  std::string place = entry.location.str();
  bool isNear = !nearestNames(kLossResult, names).empty();
  return makeError(
      "{0}: error: the function of recipe '{1}' has no result "
      "'loss'{2}{3} write {{mp.name = \"loss\"} behind the type of "
      "the result to minimise",
      place.empty() ? module : place, entry.recipe,
      isNear ? suggest(kLossResult, names) : "", isNear ? "" : ":");
}

Expected<StepProgram *> Trainer::program(int64_t rows) {
  if (auto found = programs.find(rows); found != programs.end())
    return &found->second;
  Expected<StepProgram> step = findStep(*model, rows);
  if (!step)
    return step.takeError();
  if (!step->loss)
    return noLoss(step->last->entry(), options.module);
  return &(programs[rows] = std::move(*step));
}

StepMetrics Trainer::readResults(const StepProgram &program,
                                 Executable::Results results) const {
  const Entry &entry = program.last->entry();
  auto read = [&](std::optional<unsigned> index, double otherwise) {
    return index ? readScalar(entry, results, *index) : otherwise;
  };
  StepMetrics metrics;
  metrics.loss = read(program.loss, 0);
  metrics.scale = read(program.scale, 1);
  metrics.skipped = read(program.skipped, 0) != 0;
  metrics.exhausted = read(program.exhausted, 0) != 0;
  metrics.lr = read(program.learningRate, NAN);
  metrics.gradNorm = read(program.gradientNorm, NAN);
  for (unsigned index : program.others)
    metrics.others.emplace_back(entry.results[index].name,
                                readScalar(entry, results, index));
  return metrics;
}

/// Adds a step to what the run has done.
void Trainer::count(const StepMetrics &metrics) {
  if (plan.indexInEpoch(run.step) == 0) {
    run.epochLossSum = 0;
    run.epochLossCount = 0;
  }
  ++run.step;
  run.lastScale = metrics.scale;
  if (metrics.skipped) {
    ++run.skippedSteps;
    return;
  }
  run.epochLossSum += metrics.loss;
  ++run.epochLossCount;
}

/// Submits the step after those under way.
Error Trainer::submitStep() {
  Clock::time_point start = Clock::now();
  if (!batches)
    batches =
        std::make_unique<Prefetcher>(*trainData, binding,
                                     PrefetchOptions{.plan = plan,
                                                     .seed = run.seed,
                                                     .shuffle = run.shuffle,
                                                     .firstStep = run.step,
                                                     .lastStep = totalSteps(),
                                                     .trace = trace.get()});
  StepUnderWay step{nullptr, 0, start};
  auto submit = [&](Executable &executable, Executable::Inputs in) -> Error {
    Expected<Executable::Ticket> ticket =
        executable.submit(in, Executable::Ranges::Known);
    if (!ticket)
      return ticket.takeError();
    step.ticket = *ticket;
    return Error::success();
  };
  int64_t number = submitted();
  for (int64_t micro = 0; micro < plan.microBatches(number); ++micro) {
    Expected<StepProgram *> part = program(plan.rows(number, micro));
    if (!part)
      return part.takeError();
    step.program = *part;
    if (Error error = submit((*part)->takesInputs(), *batches->next()))
      return error;
    if (!options.nanCheck.empty() && (*part)->gather)
      if (Error error = lookAtGathered(*(*part)->gather, step.ticket, micro))
        return error;
  }
  if (step.program->gather)
    if (Error error = submit(*step.program->last, {}))
      return error;
  underWay.push_back(step);
  return Error::success();
}

/// Submits as many steps as may be under way at a time, none after `pause`.
Error Trainer::submitUntil(int64_t pause) {
  while (submitted() < pause && underWay.size() < session().stepsInFlight())
    if (Error error = submitStep())
      return error;
  return Error::success();
}

/// Waits for the oldest step under way.
Expected<StepMetrics> Trainer::finishStep() {
  StepUnderWay step = underWay.front();
  auto results = [&] {
    TraceSpan span(trace.get(), Trace::Kind::Wait, "wait for the step");
    return step.program->last->results(step.ticket);
  }();
  if (!results)
    return results.takeError();
  underWay.pop_front();
  StepMetrics metrics = readResults(*step.program, *results);
  int64_t rows = plan.rows(run.step);
  count(metrics);
  metrics.step = run.step;
  if (!options.nanCheck.empty())
    if (Error error =
            lookAtStep(step.program->last->entry(), *results, metrics))
      return error;
  // Of steps that overlap each begins where the one before ended.
  double seconds = secondsSince(std::max(step.start, lastFinish));
  metrics.samplesPerSecond = rows / std::max(seconds, 1e-9);
  lastFinish = Clock::now();
  return metrics;
}

Expected<StepMetrics> Trainer::step() {
  if (run.step >= lastStep())
    return makeError("the run is over after {0} steps{1}", run.step,
                     run.step < totalSteps()
                         ? formatv(": maxSteps is {0}, and there are {1}",
                                   options.maxSteps, totalSteps())
                               .str()
                         : "");
  if (Error error = submitStep())
    return error;
  return finishStep();
}

Expected<NamedNumbers> Trainer::evaluate() {
  if (!testData)
    return makeError("{0}: the module has no data source 'test'",
                     options.module);
  return scores(*model, *testData, plan.microRows());
}

Expected<Profile> Trainer::profile() {
  Expected<StepProgram *> step = program(plan.microRows());
  if (!step)
    return step.takeError();
  Prefetcher first(*trainData, binding,
                   {.plan = plan,
                    .seed = run.seed,
                    .shuffle = run.shuffle,
                    .firstStep = 0,
                    .lastStep = 1});
  return profileStep(session(), (*step)->gather, *(*step)->last, *first.next());
}

Error Trainer::writeProfile() {
  Expected<Profile> profile = this->profile();
  if (!profile)
    return profile.takeError();
  return writeAtomically(options.profile, [&](OutputFile &file) {
    return file.write(toJson(*profile));
  });
}

Error Trainer::writeTrace() {
  return trace ? trace->write(options.trace) : Error::success();
}

int64_t Trainer::lastStep() const {
  return options.maxSteps > 0 ? std::min(options.maxSteps, totalSteps())
                              : totalSteps();
}

/// Runs the steps that are left, with metrics and checkpoints. Returns whether
/// a signal came in between; adds the time spent in steps to `seconds`.
Expected<bool> Trainer::runSteps(double &seconds) {
  bool writes = !options.out.empty();
  std::optional<MetricsFile> metricsFile;
  if (writes) {
    auto opened = MetricsFile::open(outPath("metrics.jsonl"), run.step);
    if (!opened)
      return opened.takeError();
    metricsFile.emplace(std::move(*opened));
    if (Error error = openLedger())
      return error;
    if (Error error = openOffenders())
      return error;
  }
  // Metrics reach the disk before the checkpoint that covers them, so that a
  // resumed run misses no line.
  bool replaces = run.step == 0;
  auto checkpoint = [&]() -> Error {
    if (!writes)
      return Error::success();
    if (Error error = metricsFile->flush())
      return error;
    if (Error error = std::exchange(replaces, false)
                          ? saveKeepingEarlier()
                          : save(outPath("checkpoint.safetensors")))
      return error;
    hasSaved = true;
    return Error::success();
  };
  Interrupt interrupt(options.handleSignals);
  Progress progress(options.log, plan, totalSteps());
  Clock::time_point flushed = Clock::now();
  int64_t saved = run.step;
  int64_t every = options.checkpointEvery > 0 ? options.checkpointEvery
                                              : plan.stepsPerEpoch();
  auto next = [&](int64_t period) { return (run.step / period + 1) * period; };
  if (Error error = writeLedger(progress))
    return error;
  while (true) {
    Clock::time_point start = Clock::now();
    // What is saved is the state between two steps, so none overlaps a save;
    // and so it is with the state that a ledger is of.
    int64_t pause = writes ? next(every) : lastStep();
    if (ledger)
      pause = std::min(pause, next(options.ledgerEvery));
    if (!interrupt.requested() && gaveUp.empty())
      if (Error error = submitUntil(std::min(pause, lastStep())))
        return error;
    if (underWay.empty())
      break;
    Expected<StepMetrics> metrics = finishStep();
    if (!metrics)
      return metrics.takeError();
    seconds += secondsSince(start);
    progress.step(*metrics, run.skippedSteps);
    if (stateIsBroken) {
      if (Error error = goBack(*metrics, interrupt))
        return error;
      saved = hasSaved ? saved : -1;
    }
    if (Error error = tellOffender(progress, *metrics))
      return error;
    givesUp(*metrics);
    if (!writes)
      continue;
    metricsFile->add(*metrics);
    if (run.step % every == 0) {
      saved = run.step;
      if (Error error = checkpoint())
        return error;
    } else if (secondsSince(flushed) > 1) {
      flushed = Clock::now();
      if (Error error = metricsFile->flush())
        return error;
    }
    if (ledger && run.step % options.ledgerEvery == 0)
      if (Error error = writeLedger(progress))
        return error;
  }
  if (Error error = writeValues())
    return error;
  bool interrupted = interrupt.requested();
  bool missing = writes && !sys::fs::exists(outPath("checkpoint.safetensors"));
  if (saved != run.step || missing)
    if (Error error = checkpoint())
      return error;
  if (!interrupted)
    if (Error error = writeLedger(progress))
      return error;
  return interrupted;
}

Summary Trainer::summarize(double trainSeconds) const {
  Summary summary;
  if (run.epochLossCount)
    summary.trainLoss = run.epochLossSum / run.epochLossCount;
  summary.steps = run.step;
  summary.skippedSteps = run.skippedSteps;
  summary.finalScale = run.lastScale;
  summary.compileSeconds = secondsToCompile;
  summary.trainSeconds = trainSeconds;
  summary.plannedBytes = model->session().plannedBytes();
  summary.peakRssBytes = peakRssBytes();
  summary.precision =
      run.precision.empty() ? model->precision() : run.precision;
  summary.module = model->moduleName();
  summary.file = options.module;
  summary.recipe = options.function;
  summary.policy = run.policy;
  summary.insertPasses = run.insertPasses;
  summary.scaler = scaler;
  summary.batch = run.batch;
  summary.accumulate = run.accumulate;
  summary.device = model->device();
  CompileCounts kernels = model->compileCounts();
  summary.kernelCacheHits = kernels.hits;
  summary.kernelCacheMisses = kernels.misses;
  summary.kernelCompileSeconds = kernels.seconds;
  summary.seed = run.seed;
  return summary;
}

Expected<TrainOutcome> Trainer::train() {
  if (!options.out.empty())
    if (Error error = makeRunFolder())
      return error;
  double seconds = 0;
  Expected<bool> interrupted = runSteps(seconds);
  if (!interrupted)
    return interrupted.takeError();
  Error useless = *interrupted ? Error::success() : checkSkips();
  NamedNumbers test;
  if (testData && !*interrupted && gaveUp.empty()) {
    Expected<NamedNumbers> scored = evaluate();
    if (!scored)
      return scored.takeError();
    test = std::move(*scored);
  }
  TrainOutcome outcome{summarize(seconds), *interrupted};
  outcome.summary.test = std::move(test);
  Error written = options.out.empty()
                      ? Error::success()
                      : writeFile("summary.json", toJson(outcome.summary));
  if (Error error = joinErrors(std::move(written), std::move(useless)))
    return joinErrors(std::move(error), writeTrace());
  if (!options.profile.empty() && !outcome.interrupted)
    if (Error error = writeProfile())
      return error;
  if (Error error = writeTrace())
    return error;
  return outcome;
}

} // namespace mp
