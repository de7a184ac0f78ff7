//===- TrainerSetUp.cpp - from options to the first step ------------------===//
#include "runtime/numerics/Calibration.h"
#include "runtime/train/Progress.h"
#include "runtime/train/ScalerState.h"
#include "runtime/train/Trainer.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/thread.h"
#include <mutex>

using namespace llvm;

namespace mp {

Expected<std::unique_ptr<Trainer>>
Trainer::create(TrainOptions options, Compiler compiler,
                SessionFactory createSession) {
  std::unique_ptr<Trainer> trainer(new Trainer);
  trainer->options = std::move(options);
  if (Error error =
          trainer->setUp(std::move(compiler), std::move(createSession)))
    return error;
  return trainer;
}

Trainer::~Trainer() = default;

Error Trainer::setUp(Compiler compiler, SessionFactory createSession) {
  std::optional<Checkpoint> checkpoint;
  if (!options.resume.empty()) {
    Expected<Checkpoint> opened = Checkpoint::open(options.resume);
    if (!opened)
      return opened.takeError();
    checkpoint = std::move(*opened);
  }
  if (Error error = resolve(checkpoint))
    return error;
  ModelOptions modelOptions{.module = options.module,
                            .device = options.device,
                            .threads = options.threads,
                            .onednn = options.onednn,
                            .plan = options.plan};
  if (!options.trace.empty())
    modelOptions.trace = trace = std::make_shared<Trace>();
  if (options.log)
    modelOptions.onNote = [log = options.log](StringRef line) {
      static std::mutex mutex;
      std::lock_guard lock(mutex);
      *log << line << "\n";
    };
  modelOptions.compile.settings() = run.settings();
  modelOptions.compile.passPlugins = options.passPlugins;
  modelOptions.compile.insertPasses = options.insertPasses;
  modelOptions.compile.function = options.function;
  auto opened = Model::open(modelOptions, compiler, createSession);
  if (!opened)
    return opened.takeError();
  model = std::move(*opened);
  if (Error error = findData())
    return error;
  if (Error error = chooseScale(modelOptions, compiler, createSession))
    return error;
  if (Error error = readDataAndCompile())
    return error;
  if (Error error = setUpLedger(std::move(modelOptions), std::move(compiler),
                                createSession))
    return error;
  announce();
  return checkpoint ? apply(*checkpoint) : begin();
}

Error Trainer::begin() {
  if (!options.resume.empty())
    return load(options.resume);
  RunState none;
  run.step = none.step;
  run.skippedSteps = none.skippedSteps;
  run.lastScale = none.lastScale;
  run.epochLossSum = none.epochLossSum;
  run.epochLossCount = none.epochLossCount;
  if (Error error = session().initialize(run.seed))
    return error;
  if (!options.init.empty())
    return loadWeights(options.init, session(), Weights::Initial);
  return Error::success();
}

/// An empty name left the choice to the recipe.
template <typename T> static std::string describe(const T &value) {
  std::string text = formatv("{0}", value);
  return text.empty() ? "the recipe's" : "'" + text + "'";
}

static Error refuseOther(StringRef name, const std::string &checkpoint,
                         const std::string &given) {
  return makeError("cannot resume with another {0}: the checkpoint has {1}, "
                   "this run asks for '{2}'",
                   name, checkpoint, given);
}

/// Takes an option that was given, else the checkpoint's; a checkpoint that was
/// made with another value cannot be continued exactly.
template <typename T>
static Error settle(StringRef name, const std::optional<T> &given, bool resumed,
                    T &value) {
  if (given && resumed && *given != value)
    return refuseOther(name, describe(value), formatv("{0}", *given));
  value = given.value_or(value);
  return Error::success();
}

/// The same for each setting.
static Error settleSettings(const RecipeSettings &given, bool resumed,
                            RecipeSettings &run) {
  Error error = Error::success();
  forEachSetting(
      [&]<typename T>(const SettingInfo &setting, T RecipeSettings::*field) {
        const T &asked = given.*field;
        bool isAsked = asked != T();
        if (isAsked && resumed && setting.onResume == OnResume::MustAgree &&
            asked != run.*field)
          error = joinErrors(std::move(error),
                             refuseOther(setting.name, describe(run.*field),
                                         formatv("{0}", asked)));
        if (isAsked)
          run.*field = asked;
      });
  return error;
}

Error Trainer::resolve(const std::optional<Checkpoint> &checkpoint) {
  bool resumed = checkpoint.has_value();
  // The scale that it chose is the checkpoint's.
  if (resumed && options.scaler == kCalibratedScaler &&
      StringRef(checkpoint->state().scaler).starts_with("static:"))
    options.scaler.clear();
  if (resumed && !options.init.empty())
    return makeError("initial weights and a checkpoint to resume exclude each "
                     "other");
  // Before data is read and kernels are compiled.
  if (!options.init.empty() && !sys::fs::exists(options.init))
    return makeError("{0}: no such file of initial weights", options.init);
  run = RunState();
  run.batch = 32;
  run.epochs = 1;
  if (resumed)
    run = checkpoint->state();
  auto all = [](auto... errors) {
    Error error = Error::success();
    ((error = joinErrors(std::move(error), std::move(errors))), ...);
    return error;
  };
  if (Error error =
          all(settle("batch", options.batch, resumed, run.batch),
              settle("seed", options.seed, resumed, run.seed),
              settle("shuffle", options.shuffle, resumed, run.shuffle),
              settle("drop-last", options.dropLast, resumed, run.dropLast),
              settleSettings(options, resumed, run)))
    return error;
  // Of this run alone: a checkpoint is data, and loads no code.
  run.insertPasses = llvm::join(options.insertPasses, " --insert-pass ");
  // More epochs than planned are a new schedule that the user asked for.
  run.epochs = options.epochs.value_or(run.epochs);
  constexpr int64_t most = 1'000'000'000; // so that no count of steps overflows
  if (run.batch < 1 || run.epochs < 1 || run.epochs > most)
    return makeError("batch {0} or epochs {1} out of range, expected 1 to {2}",
                     run.batch, run.epochs, most);
  if (run.accumulate < 0 || run.accumulate > most || run.batch > most)
    return makeError("{0} micro-batches of {1} records, expected 1 to {2}",
                     run.accumulate, run.batch, most);
  return Error::success();
}

Error Trainer::findData() {
  auto source = model->dataSource("train", /*required=*/true);
  if (!source)
    return source.takeError();
  Expected<Dataset> data = Dataset::find(**source, options.data);
  if (!data)
    return data.takeError();
  Expected<int64_t> accumulate = model->accumulate();
  if (!accumulate)
    return accumulate.takeError();
  run.accumulate = model->compileOptions().accumulate = *accumulate;
  int64_t records = data->records(), batch = run.batch * run.accumulate;
  if (batch > records)
    return makeError(
        "batch {0}{1} is larger than the data set of {2} "
        "records{3}",
        run.batch,
        run.accumulate > 1
            ? formatv(" times {0} micro-batches", run.accumulate).str()
            : "",
        records, at((*source)->location));
  if (!options.resume.empty() && records != run.records)
    return makeError(
        "cannot resume on other data: the checkpoint was made with "
        "{0} records, {1} holds {2}",
        run.records, options.data, records);
  trainData = std::move(*data);
  run.records = records;
  plan = {.records = records,
          .batch = batch,
          .dropLast = run.dropLast,
          .accumulate = run.accumulate};
  auto test = model->dataSource("test", /*required=*/false);
  if (!test)
    return test.takeError();
  if (!*test)
    return Error::success();
  Expected<Dataset> found = Dataset::find(**test, options.data);
  if (!found)
    return found.takeError();
  testData = std::move(*found);
  return Error::success();
}

/// In a session of its own: buffers change, and the gradients take memory.
Error Trainer::chooseScale(ModelOptions modelOptions, Compiler compiler,
                           const SessionFactory &createSession) {
  auto scaler = model->scaler();
  if (!scaler)
    return scaler.takeError();
  this->scaler = *scaler;
  auto fields = model->scalerFields();
  if (!fields)
    return fields.takeError();
  scalerFields = *fields;
  if (*scaler != kCalibratedScaler)
    return Error::success();
  auto own =
      Model::open(std::move(modelOptions), std::move(compiler), createSession);
  if (!own)
    return own.takeError();
  if (Error error = trainData->read())
    return error;
  auto found = calibrate(
      **own, *trainData,
      {.plan = plan,
       .seed = run.seed,
       .shuffle = run.shuffle,
       .init = options.resume.empty() ? options.init : options.resume});
  if (!found)
    return makeError("{0}: --scaler {1}: {2}", options.module,
                     kCalibratedScaler, toString(found.takeError()));
  this->scaler = run.scaler = model->compileOptions().scaler = found->scaler();
  scalerFields = "scale=" + StringRef(this->scaler).split(':').second.str();
  if (options.log)
    *options.log << found->summary() << "\n";
  return Error::success();
}

Error Trainer::readDataAndCompile() {
  std::optional<Error> read;
  llvm::thread reading([&] {
    TraceSpan span(trace.get(), Trace::Kind::Data, "read the data");
    read = trainData->read();
    if (!*read && testData)
      read = testData->read();
  });
  Error compiled = compileStep();
  reading.join();
  if (Error error = joinErrors(std::move(*read), std::move(compiled)))
    return error;
  Expected<ColumnBinding> columns =
      trainData->bind(programs.at(plan.microRows()).takesInputs().entry());
  if (!columns)
    return columns.takeError();
  binding = std::move(*columns);
  return Error::success();
}

Error Trainer::compileStep() {
  auto start = std::chrono::steady_clock::now();
  model->compileOptions().totalSteps = totalSteps();
  model->compileOptions().onCasts = [&](StringRef json) { casts = json.str(); };
  auto whole = program(plan.microRows());
  if (!whole)
    return whole.takeError();
  model->compileOptions().onCasts = nullptr;
  secondsToCompile =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  run.module = model->moduleName();
  run.target = session().target().str();
  // The rest is needed later, and is compiled while training runs.
  if (plan.microRemainder())
    model->compileAhead(Goal::Train, plan.microRemainder());
  if (testData) {
    int64_t batch = std::min(plan.microRows(), testData->records());
    model->compileAhead(Goal::Evaluate, batch);
    if (testData->records() % batch)
      model->compileAhead(Goal::Evaluate, testData->records() % batch);
  }
  return Error::success();
}

void Trainer::announce() {
  if (!options.log)
    return;
  raw_ostream &os = *options.log;
  // Nobody misses one but in f16.
  bool isScaled = scaler != "none" || model->precision() == "fp16";
  os << "device " << model->device() << " (" << session().describe()
     << "), precision "
     << (run.precision.empty() ? model->precision() : run.precision)
     << (run.policy.empty() ? "" : ", policy " + run.policy)
     << (isScaled ? ", scaler " + scaler : "") << "\n"
     << "data " << run.records << " records, batch " << run.batch
     << (run.accumulate > 1 ? formatv(" times {0}", run.accumulate).str() : "")
     << ", " << plan.stepsPerEpoch() << " steps an epoch, " << totalSteps()
     << " in all\n"
     << "planned memory "
     << format("%.1f MiB", session().plannedBytes() / 1048576.0)
     << format(", compiled in %.2f s", secondsToCompile);
  CompileCounts kernels = model->compileCounts();
  if (kernels.hits || kernels.misses)
    os << ", kernels " << kernels.misses << " new "
       << format("(%.2f s)", kernels.seconds) << " and " << kernels.hits
       << " from the cache";
  os << "\n";
  if (run.step >= lastStep())
    os << "nothing is left to train: the checkpoint has " << run.step
       << " steps, this run asks for " << lastStep() << "\n";
  os.flush();
}

/// "loss scaler 'megatron' instead of the checkpoint's 'torch': scaler.scale
/// goes on at 4096, scaler.hysteresis_tracker begins at 2, growth_interval is
/// 1000 (2000 in the checkpoint)"
static std::string describeChange(const std::string &before,
                                  const std::string &now,
                                  const ScalerChange &change,
                                  ArrayRef<FieldChange> fields) {
  std::string text =
      change.isNone() ? "the loss scaler has other fields than the checkpoint's"
                      : "the loss scaler is another one than the checkpoint's";
  if (before != now)
    text = formatv("loss scaler {0} instead of the checkpoint's, {1}",
                   describe(now), describe(before));
  StringRef separator = ": ";
  raw_string_ostream os(text);
  auto list = [&](const NamedNumbers &numbers, StringRef what) {
    for (auto &[name, value] : numbers) {
      os << separator << name << what << scaleText(value);
      separator = ", ";
    }
  };
  list(change.kept, " goes on at ");
  list(change.begun, " begins at ");
  list(change.dropped, " is not used, which was ");
  for (const FieldChange &field : fields) {
    os << separator << field.name << " is " << field.now << " (" << field.before
       << " in the checkpoint)";
    separator = ", ";
  }
  return text;
}

static std::string planText(const std::string &hash) {
  return hash.empty() ? "without a tuning plan" : "with tuning plan " + hash;
}

static std::string passesText(const std::string &inserted) {
  return inserted.empty() ? "without inserted passes"
                          : "with --insert-pass " + inserted;
}

Error Trainer::apply(const Checkpoint &checkpoint) {
  const RunState &saved = checkpoint.state();
  if (saved.records != run.records || saved.batch != run.batch ||
      saved.accumulate != run.accumulate)
    return makeError(
        "checkpoint of another run: {0} records in batches of {1} times {2}, "
        "expected {3} in batches of {4} times {5}",
        saved.records, saved.batch, saved.accumulate, run.records, run.batch,
        run.accumulate);
  Expected<ScalerChange> change = checkpoint.restore(session());
  if (!change)
    return change.takeError();
  auto fields = compareFields(saved.scalerFields, scalerFields);
  bool hasChanged =
      !change->isNone() || !fields.empty() || saved.scaler != run.scaler;
  if (options.log && hasChanged)
    *options.log << "note: "
                 << describeChange(saved.scaler, run.scaler, *change, fields)
                 << "\n";
  if (options.log && saved.cpu != model->arch())
    *options.log << "note: the checkpoint was made on " << saved.target << " "
                 << saved.cpu << "; the last bits of results may differ on "
                 << session().target() << " " << model->arch() << "\n";
  if (options.log && saved.plan != model->plan())
    *options.log << "note: the checkpoint was made " << planText(saved.plan)
                 << "; the last bits of results may differ "
                 << planText(model->plan()) << "\n";
  if (options.log && saved.insertPasses != run.insertPasses)
    *options.log << "note: the checkpoint was made "
                 << passesText(saved.insertPasses) << ", this run goes on "
                 << passesText(run.insertPasses) << "\n";
  batches.reset();
  underWay.clear();
  // Settings of the run stay; what the run has done is the checkpoint's.
  run.step = saved.step;
  run.seed = saved.seed;
  run.shuffle = saved.shuffle;
  run.skippedSteps = saved.skippedSteps;
  run.lastScale = saved.lastScale;
  run.epochLossSum = saved.epochLossSum;
  run.epochLossCount = saved.epochLossCount;
  return Error::success();
}

Error Trainer::save(StringRef path) {
  run.cpu = model->arch();
  run.plan = model->plan();
  run.scalerFields = scalerFields;
  return saveCheckpoint(path, session(), run);
}

Error Trainer::load(StringRef path) {
  Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeError();
  return apply(*checkpoint);
}

} // namespace mp
