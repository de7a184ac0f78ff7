//===- Bench.cpp - mp-run bench -------------------------------------------===//
#include "runtime/Error.h"
#include "runtime/Initialize.h"
#include "runtime/Memory.h"
#include "runtime/Model.h"
#include "runtime/OutputFile.h"
#include "runtime/Peak.h"
#include "runtime/Trace.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Prefetcher.h"
#include "tools/run/BenchReport.h"
#include "tools/run/Commands.h"
#include <deque>

using namespace llvm;

namespace mp::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  std::string module, data, json, trace;
  uint64_t batch = 32, steps = 50, warmup = 5;
  RecipeOptions recipe;
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
          "batch", [&](uint64_t n) { options.batch = n; }, 1, 1'000'000'000,
          "records a step, or a micro-batch (32)"),
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
  llvm::append_range(command.options, options.recipe.table());
  llvm::append_range(command.options, options.common.table());
  return command;
}

/// The inputs of one step, kept as long as this.
struct StepInputs {
  std::vector<Memory> memories;
  std::optional<Dataset> data;
  std::unique_ptr<Prefetcher> batch;
  std::vector<const void *> pointers;
};

/// Random numbers; integers within what the input allows.
Error invent(const Entry &entry, StepInputs &inputs) {
  ThreadPool pool(1);
  for (const Input &input : entry.inputs) {
    auto memory =
        Memory::allocate(std::max<uint64_t>(input.type.bytes(), 1), "an input");
    if (!memory)
      return memory.takeError();
    ElementType element = input.type.element;
    if (isFloat(element)) {
      Variable values;
      values.name = input.name;
      values.type = input.type;
      values.init = {Initializer::Kind::Uniform, -1, 1};
      if (Error error = fill(values, /*seed=*/0,
                             {memory->data(), input.type.bytes()}, pool))
        return error;
    } else {
      auto [low, high] = input.range.value_or(
          std::pair<int64_t, int64_t>(0, element == ElementType::I1 ? 2 : 100));
      for (int64_t i = 0; i < input.type.elements(); ++i)
        storeElement(element, low + i * 7919 % std::max<int64_t>(high - low, 1),
                     memory->data() + i * byteWidth(element));
    }
    inputs.pointers.push_back(memory->data());
    inputs.memories.push_back(std::move(*memory));
  }
  return Error::success();
}

/// The first batch of a folder, in its order.
Error readFirstBatch(Model &model, const Entry &entry,
                     const BenchOptions &options, StepInputs &inputs) {
  auto source = model.dataSource("train", /*required=*/true);
  if (!source)
    return source.takeError();
  auto data = Dataset::open(**source, options.data);
  if (!data)
    return data.takeError();
  inputs.data = std::move(*data);
  auto binding = inputs.data->bind(entry);
  if (!binding)
    return binding.takeError();
  PrefetchOptions prefetch;
  prefetch.plan.records = inputs.data->records();
  prefetch.plan.batch = options.batch;
  prefetch.shuffle = false;
  prefetch.lastStep = 1;
  if (prefetch.plan.records < prefetch.plan.batch)
    return makeError("batch {0} is larger than the data set of {1} records",
                     options.batch, prefetch.plan.records);
  inputs.batch =
      std::make_unique<Prefetcher>(*inputs.data, std::move(*binding), prefetch);
  inputs.pointers = inputs.batch->next()->vec();
  return Error::success();
}

/// The entry points of a step.
struct StepProgram {
  Executable *last = nullptr;   ///< the step, or what applies micro-batches
  Executable *gather = nullptr; ///< takes a micro-batch, where there are many
  int64_t microBatches = 1;
  std::optional<unsigned> skipped = std::nullopt; ///< result of `last`

  Executable &takesInputs() const { return gather ? *gather : *last; }
  Expected<Executable::Ticket> submit(Executable::Inputs inputs) const {
    for (int64_t micro = 0; gather && micro < microBatches; ++micro)
      if (auto ticket = gather->submit(inputs); !ticket)
        return ticket;
    return last->submit(gather ? Executable::Inputs() : inputs);
  }
};

Expected<StepProgram> findStep(Model &model, const BenchOptions &options) {
  auto microBatches = model.accumulate();
  if (!microBatches)
    return microBatches.takeError();
  StepProgram step{.microBatches = *microBatches};
  bool gathers = step.microBatches > 1;
  auto last = model.get(Goal::Train, gathers ? "apply" : "step", options.batch);
  if (!last)
    return last.takeError();
  step.last = *last;
  if (gathers) {
    auto gather = model.get(Goal::Train, "accumulate", options.batch);
    if (!gather)
      return gather.takeError();
    step.gather = *gather;
  }
  for (auto [i, result] : llvm::enumerate(step.last->entry().results))
    if (isScalar(result) && result.name == "skipped")
      step.skipped = i;
  return step;
}

/// Microseconds from the end of each step to that of the next, with as many
/// under way as training has; counts those that were skipped.
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

/// Peak arithmetic of the cores that the step runs on; a device's is not
/// measured.
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
  options.recipe.apply(modelOptions.compile);
  modelOptions.compile.precision = options.common.precision;
  modelOptions.compile.policy = options.common.policy;
  modelOptions.compile.totalSteps = options.warmup + options.steps;
  auto model = Model::open(std::move(modelOptions), options.common.compiler(),
                           Session::create);
  if (!model)
    return model.takeError();
  Clock::time_point begin = Clock::now();
  auto step = findStep(**model, options);
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
  report.precision = (*model)->precision();
  report.batch = options.batch;
  report.microBatches = step->microBatches;
  report.warmup = options.warmup;
  report.plannedBytes = session.plannedBytes();
  if (Error error = session.initialize(/*seed=*/0))
    return error;
  const Entry &entry = step->takesInputs().entry();
  StepInputs inputs;
  if (Error error = options.data.empty()
                        ? invent(entry, inputs)
                        : readFirstBatch(**model, entry, options, inputs))
    return error;
  if (Error error = timeSteps(session, *step, inputs.pointers, options, report))
    return error;
  auto profile =
      profileStep(session, step->gather, *step->last, inputs.pointers);
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
  outs() << toText(*report);
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
