//===- Search.cpp - mp-run search -----------------------------------------===//
#include "codegen/Plugins.h"
#include "precision/search/Precision.h"
#include "program/Limits.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "tools/run/Commands.h"

using namespace llvm;

namespace mp::tool {
using namespace precision;
namespace {

struct SearchOptions : PrecisionOptions {
  std::optional<double> within;
  std::string cost = "bytes";
  CommonOptions common;
};

std::vector<Option> calibrationOptions(SearchOptions &options) {
  constexpr uint64_t most = 1'000'000;
  return {
      text("data", "DIR", options.data,
           "folder with the files of FILE's mp.data", Names::Input),
      number(
          "batches", [&](uint64_t n) { options.batches = n; }, 1, most,
          "how many of its first batches gradients are compared over (4)"),
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples a batch (32)"),
      text("init", "FILE", options.init,
           "weights: a safetensors file, a checkpoint or a run folder (first "
           "ones)",
           Names::InputRun),
      number(
          "seed", [&](uint64_t n) { options.seed = n; }, 0, UINT64_MAX,
          "of first weights and random ops (0)"),
      text("function", "NAME", options.function, "which recipe (the only one)"),
      scalerOption(options.scaler, "loss scaler in fp16, as mp-run train takes "
                                   "it (the recipe's, else torch)"),
      positive("scale", options.scale,
               "loss scale in fp16 (the scaler's first one or, where gradients "
               "overflow there, the one that skipped steps lead to)",
               Infinite::Refused),
  };
}

Command describe(SearchOptions &options) {
  constexpr uint64_t most = 1'000'000;
  Command command{
      "search", "FILE --data DIR --tolerance T [options]",
      "Finds which ops of FILE's recipe to run in 16 bits: the cheapest choice "
      "whose gradients stay\nwithin T of those in f64. The error is max |g - "
      "g64| / max |g64|, of the worst parameter in the\nworst batch; one that "
      "is not finite is beyond any. Writes a policy that --policy takes."};
  command.positional = 1;
  command.options = {
      positive("tolerance", options.within, "the greatest error, such as 1e-2"),
      choice("cost", options.cost, {"bytes", "time"},
             "what is to be least: what the launches of a step read and write, "
             "or its time beside torch's (bytes)"),
      text("out", "FILE", options.out, "the policy, a .json file",
           Names::Output),
      text("json", "FILE", options.json,
           "all numbers, and what was tried in order", Names::Output),
      list("policy", "NAME", options.policies,
           "policies to measure beside torch and begin with (torch-cpu, keras, "
           "ort)"),
      number(
          "max-evaluations", [&](uint64_t n) { options.maxEvaluations = n; }, 1,
          most,
          "errors that are measured at most (256); of four times as many "
          "choices bytes are counted"),
      number(
          "steps", [&](uint64_t n) { options.steps = n; }, 0, most,
          "steps that are timed of each policy in the table, in turn; 0: none "
          "(50)"),
      number(
          "warmup", [&](uint64_t n) { options.warmup = n; }, 0, most,
          "steps before those (5)"),
      flag("all", options.all, true, "print everything that was tried"),
  };
  append_range(command.options, calibrationOptions(options));
  for (Option &option : options.common.table()) {
    if (option.name == "policy" || option.name == "reproducer" ||
        isOfPasses(option))
      continue;
    if (option.name == "precision")
      option.help = "fp16 or bf16 (the recipe's, else fp16)";
    command.options.push_back(std::move(option));
  }
  return command;
}

Error check(const SearchOptions &options) {
  if (!options.within)
    return make_error<UsageError>("--tolerance T is missing, such as 1e-2");
  if (options.data.empty())
    return make_error<UsageError>("--data DIR is missing");
  if (!options.out.empty() && !StringRef(options.out).ends_with(".json"))
    return make_error<UsageError>("--out " + options.out +
                                  ": a policy's file ends in .json");
  if (options.cost == "time" && options.steps == 0)
    return make_error<UsageError>("--cost time needs --steps of at least 1");
  return Error::success();
}

Error execute(const SearchOptions &given) {
  if (Error error = check(given))
    return error;
  PrecisionOptions options = given;
  options.execution = given.common.execution();
  if (Error error = PassRegistryAccess().load(given.common.plugins))
    return error;
  options.tolerance = *given.within;
  options.byTime = given.cost == "time";
  auto report = searchPrecision(options);
  if (!report)
    return report.takeError();
  outs() << withoutControls(toText(*report, options));
  if (options.out.empty())
    outs() << "\n" << report->policy;
  if (options.json.empty())
    return Error::success();
  return writeAtomically(options.json, [&](OutputFile &file) {
    return file.write(toJson(*report, options));
  });
}

} // namespace

int search(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
