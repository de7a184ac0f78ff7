//===- Bench.cpp - mp-run bench -------------------------------------------===//
#include "program/Limits.h"
#include "runtime/Model.h"
#include "runtime/Trace.h"
#include "runtime/cpu/Peak.h"
#include "runtime/train/StepInputs.h"
#include "runtime/train/StepProgram.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "tools/run/Batch.h"
#include "tools/run/BenchReport.h"
#include "tools/run/Commands.h"
#include <deque>

using namespace llvm;

namespace mp::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  std::string module, data, json, trace;
  uint64_t batch = 0, steps = 50, warmup = 5;
  std::string function;
  CommonOptions common;
};

Command describe(BenchOptions &options) {
  constexpr uint64_t most = 1'000'000;
  Command command{
      "bench", "FILE [options]",
      "Measures the step of FILE's recipe: its time, and for each kernel what "
      "it moves and computes\nbeside what a copy and peak arithmetic reach in "
      "the same run."};
  command.positional = 1;
  command.options = {
      text("data", "DIR", options.data,
           "folder with the files of FILE's mp.data (random numbers)",
           Names::Input),
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples a step, or a micro-batch (32, or as many as there are "
          "streams)"),
      number(
          "steps", [&](uint64_t n) { options.steps = n; }, 1, most,
          "steps that are measured (50)"),
      number(
          "warmup", [&](uint64_t n) { options.warmup = n; }, 0, most,
          "steps before those (5)"),
      text("json", "FILE", options.json, "where to write all numbers",
           Names::Output),
      text("trace", "FILE", options.trace,
           "write what each thread did when, for chrome://tracing",
           Names::Output),
  };
  llvm::append_range(command.options,
                     recipeOptions(options.function, options.common.recipe));
  llvm::append_range(command.options, options.common.table());
  return command;
}

/// Measures microseconds from the end of each step to that of the next, with as
/// many under way as in training; counts the skipped ones.
Error timeSteps(Session &session, const StepProgram &step,
                Executable::Inputs inputs, const BenchOptions &options,
                BenchReport &report) {
  std::deque<Executable::Ticket> underWay;
  uint64_t submitted = 0, all = options.warmup + options.steps;
  Clock::time_point last = Clock::now();
  for (uint64_t finished = 0; finished < all; ++finished) {
    while (submitted < all && underWay.size() < session.stepsInFlight()) {
      auto ticket = step.submit(inputs);
      if (!ticket)
        return ticket.takeError();
      underWay.push_back(*ticket);
      ++submitted;
    }
    auto results = step.last->results(underWay.front());
    if (!results)
      return results.takeError();
    underWay.pop_front();
    Clock::time_point now = Clock::now();
    if (finished >= options.warmup) {
      report.stepMicroseconds.push_back(
          std::chrono::duration<double, std::micro>(now - last).count());
      if (step.skipped &&
          readScalar(step.last->entry(), *results, *step.skipped))
        ++report.skippedSteps;
    }
    last = now;
  }
  return Error::success();
}

/// Measures peak arithmetic of the cores that the step runs on; a device's is
/// not measured.
void measurePeaks(const BenchOptions &options, BenchReport &report) {
  if (report.device != "cpu")
    return;
  ThreadPool pool(options.common.threads);
  report.peakF32 = measurePeak(pool, ElementType::F32);
  report.peakBF16 = measurePeak(pool, ElementType::BF16);
  report.threads = pool.threads();
}

Expected<BenchReport> measure(const BenchOptions &options,
                              std::shared_ptr<Trace> trace) {
  ModelOptions modelOptions{.module = options.module,
                            .device = options.common.device,
                            .threads = options.common.threads,
                            .onednn = options.common.onednn,
                            .plan = options.common.plan,
                            .trace = trace,
                            .onNote = note};
  modelOptions.compile.settings() = options.common.recipe;
  modelOptions.compile.function = options.function;
  modelOptions.compile.returnsNumbers = true; // as training has it
  modelOptions.compile.totalSteps = options.warmup + options.steps;
  auto model = Model::open(std::move(modelOptions), options.common.compiler(),
                           Session::create);
  if (!model)
    return model.takeError();
  Clock::time_point begin = Clock::now();
  auto source = (*model)->dataSource("train", /*required=*/false);
  if (!source)
    return source.takeError();
  int64_t batch = batchOf(options.batch, *source);
  auto step = findStep(**model, batch);
  if (!step)
    return step.takeError();
  BenchReport report;
  report.compileSeconds =
      std::chrono::duration<double>(Clock::now() - begin).count();
  report.kernels = (*model)->compileCounts();
  Session &session = (*model)->session();
  report.module = options.module;
  report.device = (*model)->device();
  report.where = session.describe();
  report.arch = (*model)->arch();
  report.arithmetic = (*model)->precision();
  report.precision = options.common.recipe.precision.empty()
                         ? report.arithmetic
                         : options.common.recipe.precision;
  report.policy = options.common.recipe.policy;
  report.batch = batch;
  report.microBatches = step->microBatches;
  report.warmup = options.warmup;
  report.plannedBytes = session.plannedBytes();
  if (Error error = session.initialize(/*seed=*/0))
    return error;
  const Entry &entry = step->takesInputs().entry();
  StepInputs inputs;
  if (Error error = makeInputs(**model, entry, batch, options.data,
                               /*seed=*/0, inputs))
    return error;
  if (Error error = timeSteps(session, *step, inputs.views, options, report))
    return error;
  auto profile = profileStep(session, step->gather, *step->last, inputs.views);
  if (!profile)
    return profile.takeError();
  report.profile = std::move(*profile);
  measurePeaks(options, report);
  return report;
}

Error execute(const BenchOptions &options) {
  auto trace = options.trace.empty() ? nullptr : std::make_shared<Trace>();
  auto report = measure(options, trace);
  if (!report)
    return report.takeError();
  outs() << withoutControls(toText(*report));
  if (trace)
    if (Error error = trace->write(options.trace))
      return error;
  if (options.json.empty())
    return Error::success();
  return writeAtomically(options.json, [&](OutputFile &file) {
    return file.write(toJson(*report));
  });
}

} // namespace

int bench(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
