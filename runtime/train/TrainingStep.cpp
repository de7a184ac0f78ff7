//===- TrainingStep.cpp - runs the compiled step on batches ---------------===//
#include "runtime/train/TrainingStep.h"
#include "program/Names.h"
#include "runtime/numerics/NanCheck.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include <cmath>

using namespace llvm;

namespace mp {

/// The error says what to add to which line.
static Error noLoss(const Entry &entry, const std::string &module) {
  std::vector<std::string> names;
  for (auto [i, result] : llvm::enumerate(entry.results))
    if (isScalar(result) && !result.name.empty() && !isOfRecord(entry, i))
      names.push_back(result.name);
  std::string place = entry.location.str();
  bool isNear = !nearestNames(kLossResult, names).empty();
  return makeError("{0}: error: the function of recipe '{1}' has no result "
                   "'loss'{2}{3} write {{mp.name = \"loss\"} after the type of "
                   "the result to minimise",
                   place.empty() ? module : place, entry.recipe,
                   isNear ? suggest(kLossResult, names) : "",
                   isNear ? "" : ":");
}

/// Checks what a bucket cuts off, once for each. The largest one is compiled
/// before there is a binding, and checked with the data.
Error TrainingStep::checkBucket(const Entry &entry, int64_t length) {
  if (run.binding.empty() || !checked.insert(length).second)
    return Error::success();
  return checkCut(*run.trainData, run.binding, entry, length,
                  run.plan.buckets->samplesOf(length));
}

Expected<StepProgram *> TrainingStep::program(BatchSize size) {
  if (auto found = programs.find(size); found != programs.end())
    return &found->second;
  Expected<StepProgram> step = findStep(*run.model, size);
  if (!step)
    return step.takeError();
  if (!step->loss)
    return noLoss(step->last->entry(), run.options.module);
  if (size.length)
    if (Error error = checkBucket(step->takesInputs().entry(), size.length))
      return std::move(error);
  return &(programs[size] = std::move(*step));
}

/// Says whether this rank's rows count.
Error TrainingStep::setIdle(bool now) {
  if (now == isIdle)
    return Error::success();
  isIdle = now;
  Expected<StepProgram *> whole = program(run.plan.largest());
  if (!whole)
    return whole.takeError();
  std::string name = (*whole)->last->entry().recipe + kIdleVariable.str();
  return run.session().write(name,
                             {reinterpret_cast<const char *>(&isIdle), 1});
}

Error TrainingStep::submit(StepInspector *inspector) {
  UnderWay step{nullptr, 0, Clock::now(), 0};
  if (!batches) {
    PrefetchOptions rest = run.batches(run.state.step, run.totalSteps());
    rest.trace = run.trace.get();
    batches = std::make_unique<Prefetcher>(*run.trainData, run.binding, rest);
  }
  // What was checked is the range of the largest bucket's inputs.
  auto ranges =
      run.plan.buckets ? Executable::Ranges::Check : Executable::Ranges::Known;
  auto submit = [&](Executable &executable, Executable::Inputs in) -> Error {
    Expected<Executable::Ticket> ticket = executable.submit(in, ranges);
    if (!ticket)
      return ticket.takeError();
    step.ticket = *ticket;
    return Error::success();
  };
  int64_t number = submitted();
  if (Error error = setIdle(run.plan.isIdle(number)))
    return error;
  double waitedBefore = batches->secondsWaited();
  for (int64_t micro = 0; micro < run.plan.microBatches(number); ++micro) {
    Expected<StepProgram *> part = program(run.plan.size(number, micro));
    if (!part)
      return part.takeError();
    step.program = *part;
    auto batch = batches->take((*part)->takesInputs().entry());
    if (!batch)
      return batch.takeError();
    if (Error error = submit((*part)->takesInputs(), *batch))
      return error;
    if (Executable *gather = (*part)->gather; inspector && gather)
      if (Error error =
              inspector->microBatch(*gather, step.ticket, number, micro))
        return error;
  }
  step.dataWait = batches->secondsWaited() - waitedBefore;
  if (step.program->gather)
    if (Error error = submit(*step.program->last, {}))
      return error;
  steps.push_back(step);
  return Error::success();
}

static StepMetrics readMetrics(const StepProgram &program,
                               Executable::Results results) {
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

/// Adds a finished step to the run's counts.
void TrainingStep::count(const StepMetrics &metrics) {
  RunState &state = run.state;
  if (run.plan.indexInEpoch(state.step) == 0) {
    state.epochLossSum = 0;
    state.epochLossCount = 0;
  }
  ++state.step;
  state.lastScale = metrics.scale;
  if (metrics.skipped) {
    ++state.skippedSteps;
    return;
  }
  state.epochLossSum += metrics.loss;
  ++state.epochLossCount;
}

Expected<StepMetrics> TrainingStep::finish(StepInspector *inspector) {
  UnderWay step = steps.front();
  auto results = [&] {
    TraceSpan span(run.trace.get(), Trace::Kind::Wait, "wait for the step");
    return step.program->last->results(step.ticket);
  }();
  if (!results)
    return results.takeError();
  steps.pop_front();
  StepMetrics metrics = readMetrics(*step.program, *results);
  int64_t samples = run.plan.rows(run.state.step);
  count(metrics);
  metrics.step = run.state.step;
  metrics.dataWaitSeconds = step.dataWait;
  run.dataWaitSeconds += step.dataWait;
  if (inspector)
    if (Error error = inspector->finished(
            {step.program->last->entry(), *results, !steps.empty()}, metrics))
      return error;
  // If steps overlap, each begins when the one before ends.
  Clock::time_point now = Clock::now();
  double seconds =
      std::chrono::duration<double>(now - std::max(step.start, lastFinish))
          .count();
  metrics.samplesPerSecond = samples / std::max(seconds, 1e-9);
  lastFinish = now;
  return metrics;
}

Error TrainingStep::repeat() {
  if (Error error = submit(nullptr))
    return error;
  return finish(nullptr).takeError();
}

void TrainingStep::drop() {
  steps.clear();
  batches.reset();
}

Expected<Profile> TrainingStep::profile() {
  BatchSize size = run.plan.largest();
  Expected<StepProgram *> step = program(size);
  if (!step)
    return step.takeError();
  int64_t number = run.plan.firstStepOf(size);
  Prefetcher first(*run.trainData, run.binding,
                   run.batches(number, number + 1));
  auto batch = first.take((*step)->takesInputs().entry());
  if (!batch)
    return batch.takeError();
  return profileStep(run.session(), (*step)->gather, *(*step)->last, *batch);
}

} // namespace mp
