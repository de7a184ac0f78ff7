//===- Tune.cpp - mp-run tune ---------------------------------------------===//
#include "runtime/cuda/CublasLt.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/OutputFile.h"
#include "tools/run/Commands.h"
#include "tools/run/ProductTimer.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <deque>

using namespace llvm;
using namespace mp::cuda;

namespace mp::tool {
namespace {

struct TuneOptions {
  std::string module, shapes, plan, json;
  uint64_t batch = 0;
  CommonOptions common;
};

Command describe(TuneOptions &options) {
  Command command{
      "tune", "FILE --batch N --out PLAN | --shapes FILE --json TIMES",
      "Measures which kernels are fastest for the matrix products of FILE's "
      "recipe, or of a list,\non a CUDA device, and writes a plan that 'mp-run "
      "train --plan' reads."};
  command.options = {
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, INT64_MAX,
          "rows in a batch of FILE's recipe"),
      text("shapes", "FILE", options.shapes,
           "a JSON list of {name, m, n, k, transpose_a, transpose_b, type} "
           "instead",
           Names::Input),
      text("out", "FILE", options.plan, "where to write the plan",
           Names::Output),
      text("json", "FILE", options.json, "where to write all times",
           Names::Output),
  };
  // The tuner measures neither oneDNN nor products under a plan.
  for (Option &option : options.common.table())
    if (llvm::is_contained({"precision", "device", "reproducer"}, option.name))
      command.options.push_back(std::move(option));
  return command;
}

/// A product to measure, and its name in the list.
struct Job {
  std::string name;
  GemmShape shape;
};

Expected<Job> readJob(const json::Value &value) {
  json::Path::Root root("shape");
  json::ObjectMapper map(value, root);
  Job job;
  std::string type;
  bool good = map && map.map("name", job.name) && map.map("type", type) &&
              map.map("m", job.shape.m) && map.map("n", job.shape.n) &&
              map.map("k", job.shape.k) &&
              map.map("transpose_a", job.shape.transposeA) &&
              map.map("transpose_b", job.shape.transposeB);
  if (!good)
    return root.getError();
  job.shape.tf32 = type == "tf32";
  auto element = job.shape.tf32 ? ElementType::F32 : parseElementType(type);
  if (!element || std::min({job.shape.m, job.shape.n, job.shape.k}) < 1)
    return makeError("'{0}': expected sizes of at least 1 and a type, got "
                     "{1}x{2}x{3} of '{4}'",
                     job.name, job.shape.m, job.shape.n, job.shape.k, type);
  job.shape.type = *element;
  return job;
}

Expected<std::vector<Job>> readJobs(StringRef path) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  auto value = parseJson((*buffer)->getBuffer());
  const json::Array *list = value ? value->getAsArray() : nullptr;
  if (!value)
    return makeError("{0}: {1}", path, toString(value.takeError()));
  if (!list)
    return makeError("{0}: expected a list of shapes", path);
  if (list->empty())
    return makeError("{0}: expected a list of shapes, got none", path);
  std::vector<Job> jobs;
  for (const json::Value &item : *list) {
    auto job = readJob(item);
    if (!job)
      return makeError("{0}: {1}", path, toString(job.takeError()));
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

/// Returns the products of a recipe's step.
Expected<std::vector<Job>> findJobs(const TuneOptions &options, Device device) {
  auto session = Session::create({.device = device});
  if (!session)
    return session.takeError();
  auto buffer = readText(options.module);
  if (!buffer)
    return buffer.takeError();
  CompileOptions compileOptions;
  compileOptions.filename = options.module;
  compileOptions.batch = options.batch;
  compileOptions.precision = options.common.recipe.precision;
  compileOptions.totalSteps = 1;
  compileOptions.target = "cuda";
  compileOptions.arch = (*session)->arch();
  auto program = options.common.compiler()((*buffer)->getBuffer(),
                                           compileOptions, nullptr);
  if (!program)
    return program.takeError();
  std::vector<Job> jobs;
  for (const GemmShape &shape : productsOf(*program))
    jobs.push_back({shape.str(), shape});
  return jobs;
}

/// The result for one product.
struct Outcome {
  TunePlan::Choice best;
  double ours = 0, error = 0, tolerance = 0;
  std::optional<double> cublaslt;
  std::vector<std::pair<std::string, double>> times; ///< of all configs
};

/// A product whose kernels are being compiled, while others are measured.
struct Prepared {
  ProductTimer timer;
  std::vector<GemmConfig> configs; ///< numbered as `timer` has them
};

Expected<Prepared> prepare(const Job &job, Device device) {
  auto timer = ProductTimer::create(job.shape, device);
  if (!timer)
    return timer.takeError();
  Prepared prepared{std::move(*timer), {}};
  prepared.configs =
      gemmCandidates(job.shape, prepared.timer.arch(), /*most=*/12);
  for (const GemmConfig &config : prepared.configs)
    if (auto number = prepared.timer.add({config}); !number)
      return number.takeError();
  return std::move(prepared);
}

Expected<double> measureRival(ProductTimer &timer) {
  auto rival = timer.add({std::nullopt});
  return rival ? timer.measure(*rival) : rival.takeError();
}

Expected<Outcome> tuneOne(const Job &job, Prepared &prepared, bool hasRival) {
  ProductTimer &timer = prepared.timer;
  Outcome outcome;
  outcome.tolerance = timer.tolerance();
  for (auto [number, config] : llvm::enumerate(prepared.configs)) {
    auto time = timer.measure(number);
    if (!time)
      return time.takeError();
    auto error = timer.error();
    if (!error)
      return error.takeError();
    outcome.times.emplace_back(config.str(), *time);
    outcome.error = std::max(outcome.error, *error);
    if (!(*error <= outcome.tolerance)) {
      note(job.name + ": " + config.str() + " is left out, as it is off by " +
           formatv("{0:e1}", *error).str());
    } else if (!outcome.best.config || *time < outcome.ours) {
      outcome.best.config = config;
      outcome.ours = *time;
    }
  }
  if (!outcome.best.config)
    return makeError("every kernel gives wrong numbers, which are off by {0}",
                     outcome.error);
  if (!hasRival || pathOf(job.shape) == GemmPath::Any)
    return outcome;
  auto rival = measureRival(timer);
  if (!rival) {
    note(job.name +
         ": cuBLASLt is not measured: " + toString(rival.takeError()));
    return outcome;
  }
  outcome.cublaslt = *rival;
  // A generated product computes its epilogue for free, so it wins a tie.
  if (*rival < 0.95 * outcome.ours)
    outcome.best.config.reset();
  return outcome;
}

json::Object describe(const Job &job, const Outcome &outcome) {
  json::Object object{
      {"name", job.name},
      {"m", job.shape.m},
      {"n", job.shape.n},
      {"k", job.shape.k},
      {"type", job.shape.tf32 ? "tf32" : elementTypeName(job.shape.type)},
      {"microseconds", outcome.ours},
      {"choice", outcome.best.config ? outcome.best.config->str() : "cublaslt"},
      {"error", outcome.error},
      {"tolerance", outcome.tolerance}};
  if (outcome.cublaslt)
    object["cublaslt_microseconds"] = *outcome.cublaslt;
  json::Object all;
  for (const auto &[config, time] : outcome.times)
    all[config] = time;
  object["candidates"] = std::move(all);
  return object;
}

Error writeText(StringRef path, const std::string &text) {
  if (path.empty())
    return Error::success();
  return writeAtomically(path,
                         [&](OutputFile &file) { return file.write(text); });
}

Error checkArguments(const TuneOptions &options) {
  bool both = !options.module.empty() && !options.shapes.empty();
  if (both || (options.module.empty() && options.shapes.empty()))
    return make_error<UsageError>(both ? "tune takes FILE or --shapes, not both"
                                       : "tune takes FILE or --shapes");
  if (options.common.device == "cpu")
    return deviceError("tune measures a CUDA device, and this is cpu");
  return Error::success();
}

Error execute(const TuneOptions &options) {
  if (Error error = checkArguments(options))
    return error;
  auto choice = chooseDevice(options.common.device == "auto"
                                 ? "cuda"
                                 : StringRef(options.common.device));
  if (!choice)
    return choice.takeError();
  auto jobs = options.shapes.empty() ? findJobs(options, choice->device)
                                     : readJobs(options.shapes);
  if (!jobs)
    return jobs.takeError();
  auto rival = lt::open();
  bool hasRival = bool(rival);
  if (!rival)
    note("cuBLASLt is not measured: " + toString(rival.takeError()));
  TunePlan plan;
  json::Array results;
  std::deque<Prepared> prepared; // of this job and the next
  for (const auto &[i, job] : llvm::enumerate(*jobs)) {
    while (prepared.size() < 2 && i + prepared.size() < jobs->size()) {
      const Job &next = (*jobs)[i + prepared.size()];
      auto made = prepare(next, choice->device);
      if (!made)
        return makeError("{0}: {1}", next.name, toString(made.takeError()));
      prepared.push_back(std::move(*made));
    }
    plan.arch = prepared.front().timer.arch();
    auto outcome = tuneOne(job, prepared.front(), hasRival);
    if (!outcome)
      return makeError("{0}: {1}", job.name, toString(outcome.takeError()));
    prepared.pop_front();
    plan.gemms[job.shape.str()] = outcome->best;
    outs() << formatv("{0}: {1:F1} us", job.name, outcome->ours);
    if (outcome->cublaslt)
      outs() << formatv(", cuBLASLt {0:F1} us", *outcome->cublaslt);
    outs() << "\n";
    results.push_back(describe(job, *outcome));
  }
  if (Error error = writeText(options.plan, plan.str()))
    return error;
  json::Value document = json::Object{{"results", std::move(results)}};
  return writeText(options.json, formatv("{0:2}\n", document).str());
}

} // namespace

int tune(ArrayRef<const char *> arguments) {
  TuneOptions options;
  Command command = describe(options);
  // Whether FILE may be missing depends on --shapes: see `checkArguments`.
  command.optional = 1;
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  if (!(*others)->empty())
    options.module = (*others)->front();
  if (Error error = execute(options))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
