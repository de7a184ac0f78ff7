//===- Measure.cpp - results and step times of variants -------------------===//
#include "precision/compare/Measure.h"
#include "program/CodeStore.h"
#include "program/Names.h"
#include "runtime/ThreadPool.h"
#include "runtime/train/CheckpointWeights.h"
#include "support/SignalStack.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ThreadPool.h"
#include <mutex>

using namespace llvm;

namespace mp::precision {

/// Keeps the code of this process, before the store on disk, which may be off.
struct Measurer::Store final : CodeStore {
  explicit Store(std::shared_ptr<CodeStore> inner) : inner(std::move(inner)) {}

  std::optional<std::string> find(const CodeKey &key) override {
    {
      std::lock_guard lock(mutex);
      if (auto found = codes.find(nameOf(key)); found != codes.end())
        return found->second;
    }
    auto code = inner->find(key);
    if (code)
      remember(key, *code);
    return code;
  }
  void keep(const CodeKey &key, StringRef code, double seconds) override {
    remember(key, code);
    inner->keep(key, code, seconds);
  }

private:
  static std::string nameOf(const CodeKey &key) {
    std::string name = key.kind + "\n";
    for (const auto &[fact, value] : key.facts)
      name += fact + "=" + value + "\n";
    return name + key.source;
  }
  void remember(const CodeKey &key, StringRef code) {
    std::lock_guard lock(mutex);
    codes[nameOf(key)] = code.str();
  }

  std::shared_ptr<CodeStore> inner;
  std::mutex mutex;
  StringMap<std::string> codes;
};

Measurer::Measurer(MeasureOptions given, const Subject &subject)
    : tell(subject.onWarning), options(std::move(given)), subject(subject),
      compiler(options.execution.compiler) {}

Measurer::~Measurer() = default;

Expected<std::unique_ptr<Model>> Measurer::open(const Setting &setting,
                                                const std::string *prepared) {
  bool isReference = setting.dtype == "f64";
  ModelOptions model{.module = options.module,
                     .device = isReference ? "cpu" : options.execution.device,
                     .threads = options.execution.threads,
                     .onednn = options.execution.onednn,
                     .plan = isReference ? "" : options.execution.plan,
                     .onNote = tell};
  model.compile.function =
      subject.recipe.empty() || prepared ? subject.function : subject.recipe;
  model.compile.totalSteps = options.totalSteps;
  model.compile.mode = Mode::Train; // as the recipe, or its function
  Compiler compile = compiler;
  if (prepared) {
    compile = [this, prepared](StringRef text, const CompileOptions &given,
                               KernelSink *sink) {
      if (given.goal != Goal::Run)
        return compiler(text, given, sink);
      // Locations are those of the user's file; this text is not in it.
      CompileOptions plain = given;
      plain.filename = "<" + given.filename + ">";
      return compiler(*prepared, plain, sink);
    };
  } else {
    model.compile.precision = setting.precision;
    model.compile.policy = setting.policy;
    model.compile.scaler = setting.scaler;
  }
  auto opened =
      Model::open(std::move(model), std::move(compile), Session::create);
  if (!opened)
    return opened;
  if (auto &kept = (*opened)->compileOptions().store) {
    if (!store)
      store = std::make_shared<Store>(kept);
    kept = store;
  }
  return opened;
}

Expected<ArrayRef<StepInputs>> Measurer::inputsOf(Model &model,
                                                  const Entry &entry) {
  std::vector<TensorType> types;
  for (const Input &input : entry.inputs)
    types.push_back(input.type);
  for (auto &known : inputs)
    if (known->types == types)
      return ArrayRef(known->batches);
  auto batches = makeBatches(model, entry, options.batch, options.batches,
                             options.data, options.seed);
  if (!batches)
    return batches.takeError();
  inputs.push_back(
      std::make_unique<Inputs>(Inputs{std::move(types), std::move(*batches)}));
  return ArrayRef(inputs.back()->batches);
}

Expected<std::vector<Values>> Measurer::evaluate(const Setting &setting,
                                                 const Variant &variant) {
  auto model = open(setting, &variant.module);
  if (!model)
    return model.takeError();
  auto executable = (*model)->get(Goal::Run, subject.function, options.batch);
  if (!executable)
    return executable.takeError();
  Session &session = (*model)->session();
  if (setting.dtype != "f64") {
    device = (*model)->device();
    where = session.describe();
  }
  if (Error error = session.initialize(options.seed))
    return std::move(error);
  if (!options.init.empty())
    if (Error error = loadWeights(options.init, session))
      return std::move(error);
  const Entry &entry = (*executable)->entry();
  auto batches = inputsOf(**model, entry);
  if (!batches)
    return batches.takeError();
  std::vector<Values> all;
  for (const StepInputs &batch : *batches) {
    auto results = (*executable)->run(batch.views);
    if (!results)
      return results.takeError();
    Values &values = all.emplace_back();
    for (auto [i, result] : llvm::enumerate(entry.results)) {
      ArrayRef<char> bytes = (*results)[i].bytes();
      values[result.name] = {result.type, {bytes.begin(), bytes.end()}};
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void add(const Entry &entry, int64_t times, StepFacts &facts) {
  for (const mp::Step &step : entry.steps) {
    facts.kernels += times;
    if (auto *launch = std::get_if<Launch>(&step))
      facts.bytes += times * launch->bytes;
    else if (auto *call = std::get_if<Call>(&step))
      facts.bytes += times * call->bytes;
    else
      facts.bytes += times * 2 * std::get<Copy>(step).bytes;
  }
}

Expected<std::unique_ptr<TimedStep>>
Measurer::openStep(const Setting &setting, ArrayRef<StepInputs> &batches) {
  auto model = open(setting, nullptr);
  if (!model)
    return model.takeError();
  auto step = std::make_unique<TimedStep>();
  step->model = std::move(*model);
  if (subject.recipe.empty()) {
    auto function =
        step->model->get(Goal::Run, subject.function, options.batch);
    if (!function)
      return function.takeError();
    step->program.last = *function;
  } else {
    auto program = findStep(*step->model, options.batch);
    if (!program)
      return program.takeError();
    step->program = *program;
  }
  add(step->program.last->entry(), 1, step->facts);
  if (step->program.gather)
    add(step->program.gather->entry(), step->program.microBatches, step->facts);
  step->seed = options.seed;
  step->init = options.init;
  step->firstScale = options.scale;
  auto all = inputsOf(*step->model, step->program.takesInputs().entry());
  if (!all)
    return all.takeError();
  batches = *all;
  step->inputs = batches.front().views;
  return step;
}

Expected<std::unique_ptr<TimedStep>> Measurer::prepare(const Setting &setting) {
  ArrayRef<StepInputs> batches;
  auto step = openStep(setting, batches);
  if (!step)
    return step;
  // Steps are timed on the first batch.
  if (auto settled = (*step)->settle(batches.take_front()); !settled)
    return settled.takeError();
  return step;
}

Expected<std::optional<SettledScale>>
Measurer::settleBelow(const Setting &setting, double scale) {
  if (setting.dtype != "f16" || options.scale)
    return std::nullopt;
  ArrayRef<StepInputs> batches;
  auto step = openStep(setting, batches);
  if (!step) {
    consumeError(step.takeError()); // the step's preparation reports it
    return std::nullopt;
  }
  auto settled = (*step)->settle(batches);
  if (settled && *settled && (*settled)->scale >= scale)
    return std::nullopt;
  return settled;
}

Expected<std::vector<StepFacts>> Measurer::count(ArrayRef<Setting> settings) {
  if (!counter) {
    auto model = open(plainSetting(), nullptr);
    if (!model)
      return model.takeError();
    counter = std::move(*model);
  }
  auto microBatches = counter->accumulate();
  if (!microBatches)
    return microBatches.takeError();
  std::vector<StepFacts> all(settings.size());
  auto countOne = [&](size_t i) {
    CompileOptions compile = counter->compileOptions();
    compile.goal = Goal::Train;
    compile.batch = options.batch;
    compile.threads = 1;
    compile.precision = settings[i].precision;
    compile.policy = settings[i].policy;
    compile.scaler = settings[i].scaler;
    auto program = compiler(subject.text, compile, /*sink=*/nullptr);
    if (!program) {
      all[i].whyNot = toString(program.takeError());
      return;
    }
    for (const Entry &entry : program->entries)
      if (entry.function != kDeriveEntry)
        add(entry, entry.function == kAccumulateEntry ? *microBatches : 1,
            all[i]);
  };
  DefaultThreadPool pool(hardware_concurrency(options.execution.threads
                                                  ? options.execution.threads
                                                  : ThreadPool::cores()));
  for (size_t i = 0; i < settings.size(); ++i)
    pool.async([&, i] {
      SignalStack stack;
      countOne(i);
    });
  pool.wait();
  return all;
}

} // namespace mp::precision
