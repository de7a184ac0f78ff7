//===- Tune.cpp - mp-run tune ---------------------------------------------===//
#include "codegen/cuda/contraction/TuneModules.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Cudnn.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "tools/run/Commands.h"
#include "tools/run/ProductTimer.h"
#include "tools/run/TuneJobs.h"
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
      "Measures which kernels are fastest for the matrix products and "
      "convolutions of FILE's recipe, or of a\nlist, on a CUDA device, and "
      "writes a plan that 'mp-run train --plan' reads."};
  command.options = {
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, INT64_MAX,
          "rows in a batch of FILE's recipe"),
      text("shapes", "FILE", options.shapes,
           "a JSON list of {name, m, n, k, transpose_a, transpose_b, type} "
           "and {name, kind, input, weight, strides, low, high, dilations, "
           "type} instead",
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

/// Returns the products and convolutions of a recipe's step.
Expected<std::vector<TuneJob>> findJobs(const TuneOptions &options,
                                        Device device) {
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
  std::vector<TuneJob> jobs;
  for (const TunedShape &shape : shapesOf(*program))
    jobs.push_back({lineOf(shape), shape});
  return jobs;
}

/// The result for one job.
struct Outcome {
  TunePlan::Choice best;
  double ours = 0, error = 0, tolerance = 0;
  std::optional<double> library;
  std::vector<std::pair<std::string, double>> times; ///< of all configs
};

/// A product whose kernels are being compiled, while others are measured.
struct Prepared {
  ProductTimer timer;
  std::vector<GemmConfig> configs; ///< numbered as `timer` has them
};

std::vector<GemmConfig> candidatesOf(const TunedShape &shape,
                                     const Arch &arch) {
  constexpr size_t most = 12;
  if (const auto *sizes = std::get_if<ConvolutionSizes>(&shape))
    return sizes->candidates(arch, most);
  return gemmCandidates(std::get<GemmShape>(shape), arch, most);
}

Expected<Prepared> prepare(const TuneJob &job, Device device) {
  auto timer = ProductTimer::create(job.shape, device);
  if (!timer)
    return timer.takeError();
  Prepared prepared{std::move(*timer), {}};
  prepared.configs = candidatesOf(job.shape, prepared.timer.arch());
  for (const GemmConfig &config : prepared.configs)
    if (auto number = prepared.timer.add({config}); !number)
      return number.takeError();
  return std::move(prepared);
}

/// The libraries whose kernels are measured too, as far as they are found.
class Rivals {
public:
  explicit Rivals(ArrayRef<TuneJob> jobs) {
    for (const TuneJob &job : jobs)
      if (std::holds_alternative<GemmShape>(job.shape))
        open("cuBLASLt", cublaslt, lt::open);
      else
        open("cuDNN", cudnn, dnn::open);
  }

  /// "cuBLASLt" or "cuDNN".
  static StringRef title(const TunedShape &shape) {
    return std::holds_alternative<GemmShape>(shape) ? "cuBLASLt" : "cuDNN";
  }
  bool has(const TunedShape &shape) const {
    bool found = std::holds_alternative<GemmShape>(shape) ? *cublaslt : *cudnn;
    return found && pathOf(productOf(shape)) != GemmPath::Any;
  }

private:
  template <typename Open>
  static void open(StringRef title, std::optional<bool> &found, Open open) {
    if (found)
      return;
    auto library = open();
    found = bool(library);
    if (!library)
      note(title.str() + " is not measured: " + toString(library.takeError()));
  }

  std::optional<bool> cublaslt, cudnn;
};

/// Measures the library's kernel; its numbers must be right, too.
Expected<double> measureRival(ProductTimer &timer) {
  auto rival = timer.add({std::nullopt});
  if (!rival)
    return rival.takeError();
  auto time = timer.measure(*rival);
  if (!time)
    return time.takeError();
  auto error = timer.error();
  if (!error)
    return error.takeError();
  if (!(*error <= timer.tolerance()))
    return makeError("its result is off by {0:e1}", *error);
  return *time;
}

Expected<Outcome> tuneOne(const TuneJob &job, Prepared &prepared,
                          const Rivals &rivals) {
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
  if (!rivals.has(job.shape))
    return outcome;
  auto rival = measureRival(timer);
  if (!rival) {
    note(job.name + ": " + Rivals::title(job.shape).str() +
         " is not measured: " + toString(rival.takeError()));
    return outcome;
  }
  outcome.library = *rival;
  // A generated kernel computes its epilogue for free, so it wins a tie.
  if (*rival < 0.95 * outcome.ours)
    outcome.best.config.reset();
  return outcome;
}

json::Object describe(const TuneJob &job, const Outcome &outcome) {
  std::string library = libraryOf(job.shape).str();
  json::Object object = fieldsOf(job.shape);
  object["name"] = job.name;
  object["microseconds"] = outcome.ours;
  object["choice"] = outcome.best.config ? outcome.best.config->str() : library;
  object["error"] = outcome.error;
  object["tolerance"] = outcome.tolerance;
  if (outcome.library)
    object[library + "_microseconds"] = *outcome.library;
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
                                     : readTuneJobs(options.shapes);
  if (!jobs)
    return jobs.takeError();
  Rivals rivals(*jobs);
  TunePlan plan;
  json::Array results;
  std::deque<Prepared> prepared; // of this job and the next
  for (const auto &[i, job] : llvm::enumerate(*jobs)) {
    while (prepared.size() < 2 && i + prepared.size() < jobs->size()) {
      const TuneJob &next = (*jobs)[i + prepared.size()];
      auto made = prepare(next, choice->device);
      if (!made)
        return makeError("{0}: {1}", next.name, toString(made.takeError()));
      prepared.push_back(std::move(*made));
    }
    plan.arch = prepared.front().timer.arch();
    auto outcome = tuneOne(job, prepared.front(), rivals);
    if (!outcome)
      return makeError("{0}: {1}", job.name, toString(outcome.takeError()));
    prepared.pop_front();
    plan.choices[lineOf(job.shape)] = outcome->best;
    outs() << formatv("{0}: {1:F1} us", job.name, outcome->ours);
    if (outcome->library)
      outs() << formatv(", {0} {1:F1} us", Rivals::title(job.shape),
                        *outcome->library);
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
