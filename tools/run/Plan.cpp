//===- Plan.cpp - mp-run plan ---------------------------------------------===//
#include "codegen/cuda/Arch.h"
#include "program/Limits.h"
#include "runtime/Device.h"
#include "runtime/ThreadPool.h"
#include "runtime/cache/CodeCache.h"
#include "runtime/cpu/Onednn.h"
#include "runtime/data/Array.h"
#include "runtime/report/PlanReport.h"
#include "support/Error.h"
#include "tools/run/Batch.h"
#include "tools/run/Commands.h"

using namespace llvm;

namespace mp::tool {
namespace {

struct PlanOptions {
  std::string module, arch;
  uint64_t batch = 0;
  bool json = false;
  std::string function;
  CommonOptions common;
};

Command describe(PlanOptions &options) {
  Command command{
      "plan", "FILE [options]",
      "Prints the memory that training FILE's recipe is planned to take, and "
      "what is alive when\nmost is. Runs nothing: the device need not be "
      "there."};
  command.positional = 1;
  command.options = {
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples a step, or a micro-batch (32, or as many as there are "
          "streams)"),
      text("arch", "NAME", options.arch,
           "LLVM's name of a CPU (this one), or a CUDA architecture (sm_90)"),
      flag("json", options.json, true, "print JSON instead of a table"),
  };
  llvm::append_range(command.options,
                     recipeOptions(options.function, options.common.recipe));
  // A plan for matrix products only changes their time.
  for (Option &option : options.common.table())
    if (option.name != "plan")
      command.options.push_back(std::move(option));
  return command;
}

/// Returns "cpu" or "cuda"; looks for a device only if none is named.
Expected<std::string> targetOf(const PlanOptions &options) {
  if (options.common.device != "auto")
    return StringRef(options.common.device).split(':').first.str();
  auto choice = chooseDevice("auto");
  if (!choice)
    return choice.takeError();
  return choice->device.kind == Device::Kind::Cpu ? "cpu" : "cuda";
}

Error chooseBatch(const PlanOptions &options, StringRef text,
                  CompileOptions &compile) {
  compile.batch = options.batch;
  if (options.batch)
    return Error::success();
  CompileOptions inspect = compile;
  inspect.goal = Goal::Inspect;
  auto program = options.common.compiler()(text, inspect, nullptr);
  if (!program)
    return program.takeError();
  auto source = find_if(program->data, [](const DataSource &candidate) {
    return candidate.name == "train";
  });
  compile.batch = batchOf(options.batch,
                          source == program->data.end() ? nullptr : &*source);
  return Error::success();
}

Error execute(const PlanOptions &options) {
  auto target = targetOf(options);
  if (!target)
    return target.takeError();
  auto buffer = readText(options.module);
  if (!buffer)
    return buffer.takeError();
  bool onCpu = *target == "cpu";
  if (!onCpu)
    if (auto arch = cuda::Arch::known(options.arch); !arch)
      return makeError("--arch: {0}", toString(arch.takeError()));
  CompileOptions compileOptions;
  compileOptions.filename = options.module;
  compileOptions.settings() = options.common.recipe;
  compileOptions.function = options.function;
  compileOptions.totalSteps = 1;
  compileOptions.returnsNumbers = true; // as training has it
  compileOptions.target = *target;
  compileOptions.arch = options.arch.empty() && !onCpu ? "sm_90" : options.arch;
  // The number is not limited to this machine's cores: the plan may be for a
  // larger one.
  compileOptions.workers =
      options.common.threads ? options.common.threads : ThreadPool::cores();
  compileOptions.onednn = onCpu && options.common.onednn;
  if (compileOptions.onednn)
    if (Error error = checkOnednn(note))
      return error;
  // The code is not used, but stored code saves compiling it.
  if (onCpu)
    compileOptions.store = CodeCache::open(note);
  if (Error error =
          chooseBatch(options, (*buffer)->getBuffer(), compileOptions))
    return error;
  auto program = options.common.compiler()((*buffer)->getBuffer(),
                                           compileOptions, nullptr);
  if (!program)
    return program.takeError();
  PlanReport report = reportPlan(*program, onCpu ? compileOptions.workers : 0);
  if (!options.common.recipe.precision.empty())
    report.precision = options.common.recipe.precision;
  report.policy = options.common.recipe.policy;
  outs() << (options.json ? toJson(report) : withoutControls(toText(report)));
  return Error::success();
}

} // namespace

int plan(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
