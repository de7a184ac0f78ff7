//===- Diff.cpp - mp-diff's command line ----------------------------------===//
#include "tools/diff/Diff.h"
#include "codegen/Plugins.h"
#include "precision/compare/Comparison.h"
#include "program/Limits.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "tools/common/Common.h"

using namespace llvm;

namespace mp::tool {
using namespace precision;
namespace {

struct Diff : DiffOptions {
  CommonOptions common;
};

Command describe(Diff &options) {
  Command command{
      "", "FILE --policy NAME [--policy NAME ...] [options]",
      "Runs a function of FILE under each policy, and in f64: casts and their "
      "bytes, the time of a\nstep, and how far each op's result, and the "
      "gradient with respect to it, are from those in\nf64. One policy alone "
      "is compared with f32. NAME is a policy, TYPE:POLICY (bf16:torch) or\n"
      "TYPE. An error is relative to the tensor's largest number in f64."};
  command.positional = 1;
  constexpr uint64_t most = 1'000'000;
  command.options = {
      list("policy", "NAME", options.policies,
           "autocast policy: a preset ('mp-run policies' lists them), a JSON "
           "file, an mp.policy of the module (@mine), jmp's types, or what "
           "--precision takes; fp16:, bf16: or tf32: before it is its type"),
      text("function", "NAME", options.function,
           "which recipe or function (the only recipe, else the only "
           "function)"),
      text("data", "DIR", options.data,
           "folder with the files of FILE's mp.data: the first batch (random "
           "numbers)",
           Names::Input),
      text("init", "FILE", options.init,
           "weights to compare with, a safetensors file", Names::Input),
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples (32)"),
      number(
          "seed", [&](uint64_t n) { options.seed = n; }, 0, UINT64_MAX,
          "of first weights, random ops and random inputs (0)"),
      positive("tolerance", options.tolerance,
               "error beyond which an op is named (32 times the type's unit "
               "roundoff: 1.6e-2 in fp16 and tf32, 0.125 in bf16, 1.9e-6 in "
               "fp32)"),
      scalerOption(options.scaler, "loss scaler in fp16, as mp-run train takes "
                                   "it (the recipe's, else torch)"),
      positive("scale", options.scale,
               "loss scale in fp16 (the scaler's first one or, where gradients "
               "overflow there, the one that skipped steps lead to)",
               Infinite::Refused),
      number(
          "steps", [&](uint64_t n) { options.steps = n; }, 0, most,
          "steps that are measured of each, in turn; 0: none (50)"),
      number(
          "warmup", [&](uint64_t n) { options.warmup = n; }, 0, most,
          "steps before those (5)"),
      text("json", "FILE", options.json, "where to write all numbers",
           Names::Output),
      flag("all", options.all, true,
           "print every op, those too that have one type and one error"),
      flag("fail-beyond", options.failBeyond, true,
           "exit with 1 where an op is beyond the tolerance"),
  };
  for (Option &option : options.common.table()) {
    if (option.name == "policy" || option.name == "reproducer" ||
        isOfPasses(option))
      continue;
    if (option.name == "precision")
      option.help = "type of the policies that name none: tf32, fp16 or bf16 "
                    "(the recipe's, else fp16)";
    command.options.push_back(std::move(option));
  }
  return command;
}

Error execute(const Diff &given) {
  DiffOptions options = given;
  options.execution = given.common.execution();
  if (Error error = PassRegistryAccess().load(given.common.plugins))
    return error;
  if (options.policies.empty())
    return make_error<UsageError>(
        "--policy is missing: name one or more, such as --policy torch "
        "--policy keras");
  auto comparison = compareVariants(options);
  if (!comparison)
    return comparison.takeError();
  outs() << withoutControls(toText(*comparison, options));
  outs().flush(); // so that errors come after it
  if (!options.json.empty())
    if (Error error = writeAtomically(options.json, [&](OutputFile &file) {
          return file.write(toJson(*comparison, options));
        }))
      return error;
  for (const Side &side : comparison->sides)
    if (options.failBeyond &&
        (side.firstBeyond() || side.firstGradientBeyond()))
      return makeError("{0} is beyond its tolerance", side.setting.title);
  return Error::success();
}

} // namespace

int diff(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
