//===- Model.cpp - a module's text, its state and its compiled entries ----===//
#include "runtime/Model.h"
#include "program/Names.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"
#include "runtime/cpu/Onednn.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Cudnn.h"
#include "runtime/data/Convert.h"
#include "runtime/ranks/Communicator.h"
#include "support/Error.h"
#include "support/SignalStack.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace mp {

bool isScalar(const Result &result) { return result.type.shape.empty(); }

double readScalar(const Entry &entry, Executable::Results results,
                  unsigned result) {
  return loadElement(entry.results[result].type.element,
                     results[result].bytes().data());
}

/// Reads the tuning plan, and opens the libraries that it names.
static Error readPlan(ModelOptions &options, bool onCpu) {
  if (onCpu)
    return makeError("{0}: a tuning plan is for a CUDA device, and this is {1}",
                     options.plan, options.device);
  auto buffer = readFile(options.plan);
  if (!buffer)
    return buffer.takeError();
  options.compile.plan = (*buffer)->getBuffer().str();
  options.compile.planName = options.plan;
  auto asksFor = [&](StringRef name) {
    return StringRef(options.compile.plan).contains(name);
  };
  auto refuse = [&](StringRef title, Error error) {
    return makeError("{0}: asks for {1}: {2}", options.plan, title,
                     toString(std::move(error)));
  };
  if (asksFor("cublaslt")) {
    if (auto library = cuda::lt::open(); !library)
      return refuse("cuBLASLt", library.takeError());
    options.compile.cublaslt = true;
  }
  if (asksFor("cudnn")) {
    if (auto library = cuda::dnn::open(); !library)
      return refuse("cuDNN", library.takeError());
    options.compile.cudnn = true;
  }
  return Error::success();
}

static Expected<std::string> textOf(StringRef module) {
  auto buffer = readText(module);
  if (!buffer)
    return buffer.takeError();
  return (*buffer)->getBuffer().str();
}

Expected<std::unique_ptr<Model>> Model::open(ModelOptions options,
                                             Compiler compiler,
                                             SessionFactory createSession) {
  Expected<DeviceChoice> choice = chooseDevice(options.device);
  if (!choice)
    return choice.takeError();
  std::string device = choice->device.str();
  bool onCpu = choice->device.kind == Device::Kind::Cpu;
  if (options.device == "auto" && options.onNote && choice->isNews)
    options.onNote("device: " + device + " (" + choice->reason + ")");
  options.device = device;
  if (onCpu && options.threads > ThreadPool::most()) {
    if (options.onNote)
      options.onNote(
          formatv("note: {0} of {1} threads are used, as this process "
                  "may use {2} cores",
                  ThreadPool::most(), options.threads, ThreadPool::cores())
              .str());
    options.threads = ThreadPool::most();
  }
  if (!options.text) {
    Expected<std::string> text = textOf(options.module);
    if (!text)
      return text.takeError();
    options.text = std::move(*text);
  }
  std::map<int64_t, std::string> texts;
  for (const auto &[length, module] : options.buckets) {
    Expected<std::string> text = textOf(module);
    if (!text)
      return text.takeError();
    texts[length] = std::move(*text);
  }
  auto session = createSession({.threads = options.threads,
                                .device = choice->device,
                                .onWarning = options.onNote,
                                .trace = options.trace,
                                .ranks = options.ranks});
  if (!session)
    return session.takeError();
  std::unique_ptr<Model> model(new Model);
  model->text = std::move(*options.text);
  model->texts = std::move(texts);
  model->state = std::move(*session);
  model->compiler = std::move(compiler);
  options.compile.filename = options.module;
  options.compile.threads = ThreadPool::workers(options.threads);
  options.compile.workers = ThreadPool::workers(options.threads);
  options.compile.target = model->state->target().str();
  options.compile.arch = model->state->arch();
  if (options.ranks)
    options.compile.ranks = options.ranks->size();
  options.compile.onednn = onCpu && options.onednn;
  if (options.compile.onednn)
    if (Error error = checkOnednn(options.onNote))
      return std::move(error);
  if (onCpu)
    options.compile.store = model->cache = CodeCache::open(options.onNote);
  if (options.trace)
    options.compile.onSpan = [trace = options.trace](const CompileSpan &span) {
      trace->add(Trace::Kind::Compile, trace->name(span.what, span.detail),
                 span.begin, span.end);
    };
  if (!options.plan.empty())
    if (Error error = readPlan(options, onCpu))
      return std::move(error);
  model->options = std::move(options);
  return model;
}

Model::~Model() {
  stopping = true;
  background.wait();
  // Errors of programs that were never used are dropped on purpose.
  for (auto &[key, job] : jobs)
    if (job->program && !*job->program)
      consumeError(job->program->takeError());
}

CompileCounts Model::compileCounts() const {
  return cache ? cache->counts() : state->compileCounts();
}

Expected<Program> Model::compile(Goal goal, BatchSize batch,
                                 CompileOptions compileOptions) const {
  compileOptions.goal = goal;
  compileOptions.batch = batch.rows;
  auto bucket = texts.find(batch.length);
  if (bucket != texts.end())
    compileOptions.filename = options.buckets.at(batch.length);
  // An inspected program has no entry point, so no kernels are made.
  std::unique_ptr<KernelSink> sink =
      goal == Goal::Inspect ? nullptr : state->sink();
  return compiler(bucket == texts.end() ? text : bucket->second, compileOptions,
                  sink.get());
}

Error Model::inspect() {
  if (sources)
    return Error::success();
  Expected<Program> program =
      compile(Goal::Inspect, options.compile.batch, options.compile);
  if (!program)
    return program.takeError();
  sources = std::move(program->data);
  microBatches = program->accumulate;
  scalerName = program->scaler;
  fieldsOfScaler = program->scalerFields;
  firstScale = program->scale;
  return Error::success();
}

Expected<int64_t> Model::accumulate() {
  if (Error error = inspect())
    return error;
  int64_t ranks = options.compile.ranks;
  if (microBatches == 1)
    return ranks;
  if (microBatches % ranks != 0)
    return makeError(
        "{0}: a step has {1} micro-batches, which {2} ranks cannot "
        "share equally: --accumulate {3}",
        options.module, microBatches, ranks, alignTo(microBatches, ranks));
  return microBatches;
}

Expected<int64_t> Model::share() {
  Expected<int64_t> all = accumulate();
  if (!all)
    return all.takeError();
  return *all / options.compile.ranks;
}

Expected<std::string> Model::scaler() {
  if (Error error = inspect())
    return error;
  return scalerName;
}

Expected<std::string> Model::scalerFields() {
  if (Error error = inspect())
    return error;
  return fieldsOfScaler;
}

Expected<double> Model::initialScale() {
  if (Error error = inspect())
    return error;
  return firstScale;
}

Expected<const DataSource *> Model::dataSource(StringRef source,
                                               bool required) {
  if (Error error = inspect())
    return error;
  std::vector<std::string> names;
  for (const DataSource &candidate : *sources) {
    if (candidate.name == source)
      return &candidate;
    names.push_back(candidate.name);
  }
  if (!required)
    return nullptr;
  return makeError("{0}: the module has no data source '{1}'{2}",
                   options.module, source, suggest(source, names));
}

std::vector<int64_t> Model::buckets() const {
  auto lengths = make_first_range(texts);
  return {lengths.begin(), lengths.end()};
}

void Model::compileAhead(Goal goal, BatchSize batch) {
  Key key = keyOf(goal, batch);
  if (linked.count(key) || jobs.count(key))
    return;
  CompileOptions ahead = options.compile;
  ahead.threads = 1; // the other cores are training
  auto job = std::make_unique<Job>();
  job->done = background.async([this, goal, batch, ahead, slot = job.get()] {
    SignalStack stack;
    if (!stopping)
      slot->program.emplace(compile(goal, batch, ahead));
  });
  jobs[key] = std::move(job);
}

static uint64_t hashOf(const Program &program) {
  std::string text;
  raw_string_ostream os(text);
  print(program, os, /*withCode=*/false);
  return xxh3_64bits(text);
}

/// Whether a program has a derived variable that is not among `known`.
static bool declaresDerived(const Program &program, ArrayRef<Variable> known) {
  StringSet<> names;
  for (const Variable &variable : known)
    names.insert(variable.name);
  return any_of(program.variables, [&](const Variable &variable) {
    return variable.kind == VariableKind::Derived &&
           !names.contains(variable.name);
  });
}

Error Model::checkBucket(Key key, const Program &program) {
  auto [goal, rows, length] = key;
  bool isStep = goal == Goal::Train;
  ArrayRef<Variable> known = isStep ? ArrayRef(trained) : state->variables();
  if (isStep && known.empty())
    trained = program.variables;
  if (known.empty())
    return Error::success();
  const std::string &module = options.buckets.at(length);
  constexpr StringLiteral why = "the networks of all buckets share their "
                                "variables, which cannot depend on the length";
  StringMap<const Variable *> names;
  for (const Variable &variable : known)
    names[variable.name] = &variable;
  for (const Variable &variable : program.variables) {
    const Variable *other = names.lookup(variable.name);
    names.erase(variable.name);
    // What a program derives for its evaluation, `link` computes.
    bool isOwn = !isStep && (variable.kind == VariableKind::Derived ||
                             variable.kind == VariableKind::Window);
    if (!other && !isOwn)
      return makeError("{0}: variable '{1}'{2} is not in {3}: {4}", module,
                       variable.name, at(variable.location), options.module,
                       why);
    if (other && other->wholeType() != variable.wholeType())
      return makeError("{0}: variable '{1}'{2} is {3}, but {4} in {5}: {6}",
                       module, variable.name, at(variable.location),
                       variable.wholeType().str(), other->wholeType().str(),
                       options.module, why);
  }
  for (const Variable &variable : known)
    if (isStep && names.contains(variable.name))
      return makeError("{0}: there is no variable '{1}' as in {2}{3}: {4}",
                       module, variable.name, options.module,
                       at(variable.location), why);
  return Error::success();
}

Error Model::link(Key key, Expected<Program> program) {
  if (!program)
    return program.takeError();
  if (texts.contains(std::get<2>(key)))
    if (Error error = checkBucket(key, *program))
      return error;
  std::vector<Linked> entries;
  for (const Entry &entry : program->entries) {
    Entry &known = entries.emplace_back().entry; // without its steps
    known.function = entry.function;
    known.recipe = entry.recipe;
    known.batch = entry.batch;
  }
  name = program->module;
  archName = program->arch;
  precisionName = program->precision;
  planHash = program->plan;
  if (written.empty())
    written = program->graph;
  if (!programHash && options.ranks)
    programHash = hashOf(*program);
  if (!memory)
    memory = reportPlan(*program,
                        program->target == "cpu" ? options.compile.workers : 0);
  // A program that is loaded during training may declare new derived variables;
  // others are known, and ranks would have to compute them together.
  bool derives = declaresDerived(*program, state->variables());
  if (Error error = state->load(std::move(*program)))
    return error;
  for (Linked &one : entries)
    one.executable = state->find(one.entry.function, one.entry.batch);
  linked[key] = std::move(entries);
  return derives ? state->derive() : Error::success();
}

Expected<Executable *> Model::get(Goal goal, StringRef function,
                                  BatchSize batch) {
  Key key = keyOf(goal, batch);
  if (auto job = jobs.find(key); job != jobs.end()) {
    job->second->done.wait();
    Expected<Program> program = std::move(*job->second->program);
    jobs.erase(job);
    if (Error error = link(key, std::move(program)))
      return error;
  } else if (!linked.count(key)) {
    if (Error error = link(key, compile(goal, batch, options.compile)))
      return error;
  }
  std::vector<std::string> names;
  for (const auto &[entry, executable] : linked[key]) {
    bool wanted = function.empty() ? entry.function != kDeriveEntry
                                   : entry.isCalled(function);
    if (wanted)
      return executable;
    names.push_back(entry.function);
  }
  return makeError("{0}: the program has no entry point '{1}'{2}",
                   options.module, function, suggest(function, names));
}

} // namespace mp
