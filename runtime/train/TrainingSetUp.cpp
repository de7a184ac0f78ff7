//===- TrainingSetUp.cpp - from options to the first step -----------------===//
#include "runtime/train/TrainingSetUp.h"
#include "runtime/numerics/Calibration.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/LedgerObserver.h"
#include "runtime/train/RunCheckpoint.h"
#include "runtime/train/RunRanks.h"
#include "runtime/train/RunSettings.h"
#include "support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/thread.h"
#include <mutex>

using namespace llvm;

namespace mp {

static ModelOptions modelOptions(const TrainingRun &run) {
  const TrainOptions &options = run.options;
  ModelOptions model{.module = options.module,
                     .buckets = run.modules,
                     .device = options.device,
                     .threads = options.threads,
                     .onednn = options.onednn,
                     .plan = options.plan};
  model.trace = run.trace;
  model.ranks = options.ranks;
  if (options.log)
    model.onNote = [log = options.log](StringRef line) {
      static std::mutex mutex;
      std::lock_guard lock(mutex);
      *log << withoutControls(line) << "\n";
    };
  model.compile.settings() = run.state.settings();
  model.compile.plugins = options.plugins;
  model.compile.insertPasses = options.insertPasses;
  model.compile.function = options.function;
  model.compile.shardOptimizer = options.shardOptimizer;
  model.compile.returnsNumbers = true; // all that metrics hold
  return model;
}

/// The data source `name`; nothing if it is missing and not required.
static Expected<std::optional<Dataset>> findData(TrainingRun &run,
                                                 StringRef name) {
  auto source = run.model->dataSource(name, /*required=*/name == "train");
  if (!source)
    return source.takeError();
  if (!*source)
    return std::nullopt;
  return Dataset::find(**source, run.options.data, run.options.pictures);
}

/// Lets each row of a batch be a text that goes on in the next batch.
static Error planStreams(TrainingRun &run, int64_t streams) {
  RunState &state = run.state;
  if (!state.buckets.empty())
    return makeError("{0}: the data are {1} texts that go on from batch to "
                     "batch, which have no lengths: leave out the buckets",
                     run.options.data, streams);
  auto cannot = [&](const Twine &why) {
    return makeError(
        "{0}: the data are {1} texts that go on from batch to batch: {2}{3}",
        run.options.data, streams, why.str(),
        at(cantFail(run.model->dataSource("train", true))->location));
  };
  if (!run.options.batch && run.options.resume.empty())
    state.batch = streams;
  if (state.batch != streams)
    return cannot("a batch has a row for each of them, and not " +
                  Twine(state.batch));
  if (state.accumulate != 1)
    return cannot("they are not divided into micro-batches");
  if (run.options.shuffle.value_or(false))
    return cannot("they are not shuffled");
  state.shuffle = false;
  return Error::success();
}

/// Puts the samples into buckets, whose batches are those of the plan.
static Error planBuckets(TrainingRun &run) {
  const RunState &state = run.state;
  if (!state.shuffle)
    return makeError("samples in buckets are not taken in the order of the "
                     "files: leave out --no-shuffle or the buckets");
  if (Error error = run.trainData->read(kLengthsColumn))
    return error;
  auto buckets = LengthBuckets::of(*run.trainData, {.lengths = state.buckets,
                                                    .batch = run.plan.batch,
                                                    .dropLast = state.dropLast,
                                                    .seed = state.seed});
  if (!buckets)
    return buckets.takeError();
  run.plan.buckets = std::move(*buckets);
  if (run.plan.stepsPerEpoch() == 0)
    return makeError("no bucket has the {0} samples of a step, and smaller "
                     "batches are left out: take a smaller batch",
                     run.plan.batch);
  return Error::success();
}

static Error planBatches(TrainingRun &run) {
  Expected<int64_t> accumulate = run.model->accumulate();
  if (!accumulate)
    return accumulate.takeError();
  RunState &state = run.state;
  state.accumulate = run.model->compileOptions().accumulate = *accumulate;
  int64_t samples = run.trainData->samples();
  if (int64_t streams = run.trainData->streams(); streams > 1)
    if (Error error = planStreams(run, streams))
      return error;
  int64_t batch = state.batch * state.accumulate;
  if (batch > samples)
    return makeError(
        "batch {0}{1} is larger than the data set of {2} "
        "samples{3}",
        state.batch,
        state.accumulate > 1
            ? formatv(" times {0} micro-batches", state.accumulate).str()
            : "",
        samples, at(cantFail(run.model->dataSource("train", true))->location));
  if (!run.options.resume.empty() && samples != state.samples)
    return makeError(
        "cannot resume on other data: the checkpoint was made with "
        "{0} samples, {1} holds {2}",
        state.samples, run.options.data, samples);
  state.samples = samples;
  std::vector<std::string> classes = run.trainData->classes();
  if (Error error = checkClasses(state.classes, classes, run.options.data))
    return error;
  state.classes = std::move(classes);
  run.plan = {.samples = samples,
              .batch = batch,
              .dropLast = state.dropLast,
              .accumulate = state.accumulate,
              .rank = run.rank(),
              .ranks = run.ranks()};
  return state.buckets.empty() ? Error::success() : planBuckets(run);
}

/// Finds the data of both sources without reading it.
static Error findData(TrainingRun &run) {
  auto train = findData(run, "train");
  if (!train)
    return train.takeError();
  run.trainData = std::move(*train);
  if (Error error = planBatches(run))
    return error;
  auto test = findData(run, "test");
  if (!test)
    return test.takeError();
  run.testData = std::move(*test);
  // Lengths that no bucket takes would otherwise be noticed after an epoch.
  if (run.testData && run.plan.buckets) {
    if (Error error = run.testData->read(kLengthsColumn))
      return error;
    auto plan = evaluationPlan(*run.model, *run.testData, run.plan.microRows());
    if (!plan)
      return plan.takeError();
  }
  return run.testData ? checkClasses(run.state.classes, run.testData->classes(),
                                     run.options.data)
                      : Error::success();
}

/// If the scaler is static:auto, calibrates a scale and makes the run's scaler
/// static:N. Calibration needs a session of its own, as buffers change and
/// gradients take memory.
static Error chooseScale(TrainingRun &run, ModelOptions options,
                         Compiler compiler,
                         const SessionFactory &createSession) {
  Model &model = *run.model;
  auto scaler = model.scaler();
  if (!scaler)
    return scaler.takeError();
  run.scaler = *scaler;
  auto fields = model.scalerFields();
  if (!fields)
    return fields.takeError();
  run.scalerFields = *fields;
  if (*scaler != kCalibratedScaler)
    return Error::success();
  auto own =
      Model::open(std::move(options), std::move(compiler), createSession);
  if (!own)
    return own.takeError();
  if (Error error = run.trainData->read())
    return error;
  const TrainOptions &asked = run.options;
  auto found =
      calibrate(**own, *run.trainData,
                {.plan = run.plan,
                 .seed = run.state.seed,
                 .shuffle = run.state.shuffle,
                 .init = asked.resume.empty() ? asked.init : asked.resume});
  if (!found)
    return makeError("{0}: --scaler {1}: {2}", asked.module, kCalibratedScaler,
                     toString(found.takeError()));
  run.scaler = found->scaler();
  run.scalerFields = "scale=" + StringRef(run.scaler).split(':').second.str();
  run.state.scaler = model.compileOptions().scaler = run.scaler;
  if (asked.log)
    *asked.log << withoutControls(found->summary()) << "\n";
  return Error::success();
}

/// Compiles batches of other sizes while training runs, in the order in which
/// they are needed.
static Error compileRest(const TrainingRun &run) {
  Model &model = *run.model;
  BatchSize largest = run.plan.largest();
  for (BatchSize size : run.plan.sizes(run.state.step))
    if (size != largest)
      model.compileAhead(Goal::Train, size);
  if (!run.testData)
    return Error::success();
  Expected<BatchPlan> test =
      evaluationPlan(model, *run.testData, run.plan.microRows());
  if (!test)
    return test.takeError();
  for (BatchSize size : test->sizes())
    model.compileAhead(Goal::Evaluate, size);
  return Error::success();
}

static Error compileStep(TrainingRun &run, TrainingStep &steps) {
  auto start = std::chrono::steady_clock::now();
  CompileOptions &options = run.model->compileOptions();
  options.totalSteps = run.totalSteps();
  options.onCasts = [&](StringRef json) { run.casts = json.str(); };
  auto whole = steps.program(run.plan.largest());
  if (!whole)
    return whole.takeError();
  options.onCasts = nullptr;
  run.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  run.state.module = run.model->moduleName();
  run.state.graph = run.model->graph();
  run.state.target = run.session().target().str();
  return compileRest(run);
}

/// Both run at the same time, as unpacking takes a quarter of a second.
static Error readDataAndCompile(TrainingRun &run, TrainingStep &steps) {
  std::optional<Error> read;
  llvm::thread reading([&] {
    TraceSpan span(run.trace.get(), Trace::Kind::Data, "read the data");
    read = run.trainData->read();
    if (!*read && run.testData)
      read = run.testData->read();
  });
  Error compiled = compileStep(run, steps);
  reading.join();
  if (Error error = joinErrors(std::move(*read), std::move(compiled)))
    return error;
  BatchSize largest = run.plan.largest();
  StepProgram *whole = cantFail(steps.program(largest));
  const Entry &entry = whole->takesInputs().entry();
  Expected<ColumnBinding> columns =
      run.trainData->bind(entry, largest.length, run.plan.samplesOfBuckets());
  if (!columns)
    return columns.takeError();
  run.binding = std::move(*columns);
  return run.plan.buckets
             ? checkCut(*run.trainData, run.binding, entry, largest.length,
                        run.plan.buckets->samplesOf(largest.length))
             : Error::success();
}

/// "bucket 32: 3800 samples in 119 batches, 12.1% padding", and the same of all
/// together.
static void announceBuckets(const LengthBuckets &buckets, raw_ostream &os) {
  auto share = [&](int64_t tokens, int64_t all) {
    os << format("%.1f%% padding",
                 all ? 100.0 * double(all - tokens) / double(all) : 0.0);
  };
  int64_t samples = 0, places = 0, tokens = 0;
  for (const LengthBucket &bucket : buckets.all()) {
    samples += bucket.samples;
    places += bucket.samples * bucket.length;
    tokens += bucket.tokens;
    os << "bucket " << bucket.length << ": " << bucket.samples << " samples in "
       << bucket.batches << " batches, ";
    share(bucket.tokens, bucket.samples * bucket.length);
    os << "\n";
  }
  int64_t longest = buckets.all().back().length;
  os << "all buckets: ";
  share(tokens, places);
  os << ", instead of ";
  share(tokens, samples * longest);
  os << " to " << longest << " tokens\n";
}

/// "device cpu (8 threads), precision fp16, scaler torch", then data and memory
static void announce(const TrainingRun &run) {
  if (!run.options.log)
    return;
  raw_ostream &os = *run.options.log;
  const Model &model = *run.model;
  const RunState &state = run.state;
  // A missing scaler matters only in f16.
  bool isScaled = run.scaler != "none" || model.precision() == "fp16";
  os << "device " << model.device() << " (" << run.session().describe()
     << "), precision "
     << (state.precision.empty() ? model.precision() : state.precision)
     << (state.policy.empty() ? "" : ", policy " + state.policy)
     << (isScaled ? ", scaler " + run.scaler : "") << "\n"
     << "data " << state.samples << " samples, batch " << state.batch
     << (state.accumulate > 1 ? formatv(" times {0}", state.accumulate).str()
                              : "")
     << ", " << run.plan.stepsPerEpoch() << " steps an epoch, "
     << run.totalSteps() << " in all\n";
  if (run.plan.buckets)
    announceBuckets(*run.plan.buckets, os);
  os << "planned memory "
     << format("%.1f MiB", run.session().plannedBytes() / 1048576.0)
     << format(", compiled in %.2f s", run.compileSeconds);
  CompileCounts kernels = model.compileCounts();
  if (kernels.hits || kernels.misses)
    os << ", kernels " << kernels.misses << " new "
       << format("(%.2f s)", kernels.seconds) << " and " << kernels.hits
       << " from the cache";
  os << "\n";
  if (state.step >= run.lastStep())
    os << "nothing is left to train: the checkpoint has " << state.step
       << " steps, this run asks for " << run.lastStep() << "\n";
  os.flush();
}

/// Opens the module and finds the data, which gives the number of steps.
static Error openModel(TrainingRun &run, const ModelOptions &options,
                       const Compiler &compiler,
                       const SessionFactory &createSession) {
  auto model = Model::open(options, compiler, createSession);
  if (!model)
    return model.takeError();
  run.model = std::move(*model);
  if (Error error = findData(run))
    return error;
  return chooseScale(run, options, compiler, createSession);
}

/// Refuses options by which ranks would do different work between their
/// exchanges.
static Error checkForRanks(const TrainOptions &options) {
  if (!options.ranks)
    return Error::success();
  std::pair<StringRef, bool> refused[] = {
      {"--nan-check", !options.nanCheck.empty()},
      {"--ledger", options.ledgerEvery != 0},
      {"--profile", !options.profile.empty()},
      {"--scaler static:auto", options.scaler == kCalibratedScaler}};
  for (auto [name, given] : refused)
    if (given)
      return makeError("{0} is for a run of one rank, and this one has {1}",
                       name, options.ranks->size());
  return Error::success();
}

Expected<TrainingSetUp> setUpTraining(TrainOptions options, Compiler compiler,
                                      SessionFactory createSession) {
  if (Error error = checkForRanks(options))
    return std::move(error);
  std::optional<Checkpoint> checkpoint;
  if (!options.resume.empty()) {
    Expected<Checkpoint> opened = openToResume(options.resume);
    if (!opened)
      return opened.takeError();
    checkpoint = std::move(*opened);
  }
  auto state = settleRun(options, checkpoint ? &*checkpoint : nullptr);
  if (!state)
    return state.takeError();
  TrainingSetUp made;
  made.run = std::make_unique<TrainingRun>();
  TrainingRun &run = *made.run;
  run.options = std::move(options);
  run.state = std::move(*state);
  if (!run.state.buckets.empty()) {
    auto modules = modulesOfBuckets(run.options.module, run.state.buckets);
    if (!modules)
      return modules.takeError();
    run.modules = std::move(*modules);
    run.options.module = run.modules.rbegin()->second;
  }
  if (!run.options.trace.empty())
    run.trace = std::make_shared<Trace>();
  if (run.trace && run.options.ranks)
    traceExchanges(*run.options.ranks, run.trace);
  ModelOptions model = modelOptions(run);
  if (Error error = openModel(run, model, compiler, createSession))
    return error;
  made.search = std::make_unique<NonFiniteSearch>(run);
  bool looks = !run.options.nanCheck.empty();
  made.steps =
      std::make_unique<TrainingStep>(run, looks ? made.search.get() : nullptr);
  if (Error error = readDataAndCompile(run, *made.steps))
    return error;
  auto ledger =
      makeLedger(run, std::move(model), std::move(compiler), createSession);
  if (!ledger)
    return ledger.takeError();
  made.ledger = std::move(*ledger);
  announce(run);
  if (Error error = checkpoint ? restoreRun(run, *checkpoint) : beginRun(run))
    return error;
  return made;
}

} // namespace mp
