//===- Common.cpp - options that several tools share ----------------------===//
#include "tools/common/Common.h"
#include "codegen/Compile.h"
#include "passes/Passes.h"
#include "passes/autocast/Policy.h"
#include "passes/inspect/PassInsertion.h"
#include "runtime/Device.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <mutex>

using namespace llvm;

namespace mp::tool {

Option precisionOption(std::string &to, std::string help) {
  Option option = text("precision", "NAME", to, std::move(help));
  option.set = [&to](StringRef given) -> Error {
    auto known = resolvePrecision(given);
    if (!known)
      return make_error<UsageError>("--precision: " +
                                    toString(known.takeError()));
    to = known->name.str();
    return Error::success();
  };
  return option;
}

/// What needs the module or a file is looked for when it is compiled.
static Error checkPolicy(StringRef name) {
  if (name.empty() || name.starts_with("@") || name.starts_with("jmp:") ||
      name.ends_with(".json"))
    return Error::success();
  auto known = Policy::load(name);
  if (known)
    return Error::success();
  auto precision = resolvePrecision(name);
  if (precision) {
    consumeError(known.takeError());
    return make_error<UsageError>(
        formatv("--policy: '{0}' is a precision: write --precision {0}", name));
  }
  consumeError(precision.takeError());
  return make_error<UsageError>("--policy: " + toString(known.takeError()));
}

Compiler CommonOptions::compiler() const {
  struct Said {
    std::mutex mutex;
    StringSet<> texts;
  };
  auto said = std::make_shared<Said>();
  auto sayOnce = [said](StringRef text) {
    std::lock_guard lock(said->mutex);
    if (said->texts.insert(text).second)
      errs() << (text + "\n").str();
  };
  return [sayOnce, own = *this](StringRef module, const CompileOptions &options,
                                KernelSink *sink) {
    CompileOptions telling = options;
    telling.reproducer = own.reproducer;
    telling.passPlugins = own.passPlugins;
    telling.insertPasses = own.insertPasses;
    telling.onWarning = sayOnce;
    if (own.dumpPipeline)
      telling.onPipeline = sayOnce;
    return compile(module, telling, sink);
  };
}

void note(StringRef line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  errs() << line << "\n";
}

std::function<void(StringRef)> noteOnce() {
  struct Said {
    std::mutex mutex;
    StringSet<> lines;
  };
  return [said = std::make_shared<Said>()](StringRef line) {
    std::lock_guard lock(said->mutex);
    if (said->lines.insert(line).second)
      note(line);
  };
}

precision::Execution CommonOptions::execution() const {
  return {.precision = precision,
          .device = device,
          .plan = plan,
          .threads = threads,
          .onednn = onednn,
          .compiler = compiler(),
          .onNote = noteOnce()};
}

std::vector<Option> CommonOptions::table() {
  Option policyOption =
      text("policy", "NAME", policy,
           "autocast policy: a preset ('mp-run policies' lists them), a JSON "
           "file, an mp.policy of the module (@mine), or jmp's types (the "
           "checkpoint's, else the recipe's)");
  policyOption.set = [this](StringRef given) -> Error {
    policy = given.str();
    return checkPolicy(given);
  };
  Option deviceOption =
      text("device", "auto|cpu|cuda[:N]", device,
           "where to run (auto: a CUDA device that can be used, else the CPU)");
  deviceOption.set = [this](StringRef given) -> Error {
    device = given.str();
    if (Error error = checkDeviceName(given))
      return make_error<UsageError>("--device: " + toString(std::move(error)));
    return Error::success();
  };
  Option onednnOption = {
      "onednn", "auto|never|always",
      "oneDNN for matrix products on the CPU (auto: of bf16, on CPUs where it "
      "beats the generated code; always: of f32 and bf16)",
      [this](StringRef given) -> Error {
        auto use = StringSwitch<std::optional<UseOnednn>>(given)
                       .Case("auto", UseOnednn::Auto)
                       .Case("never", UseOnednn::Never)
                       .Case("always", UseOnednn::Always)
                       .Default(std::nullopt);
        if (!use)
          return make_error<UsageError>(
              "--onednn takes auto, never or always, not '" + given.str() +
              "'");
        onednn = *use;
        return Error::success();
      }};
  Option insertOption =
      list("insert-pass", "PLACE:PASSES", insertPasses,
           "run passes of one's own beside one of the pipeline: "
           "after=mp-autodiff:my-pass{by=2}, or before=...");
  insertOption.set = [this](StringRef given) -> Error {
    insertPasses.push_back(given.str());
    if (auto parsed = PassInsertion::parse(given); !parsed)
      return make_error<UsageError>("--insert-pass: " +
                                    toString(parsed.takeError()));
    return Error::success();
  };
  return {
      precisionOption(precision,
                      "fp32, tf32, fp16, bf16, fp8 or another name of one, as "
                      "PyTorch, Lightning, Keras and Apex have them (the "
                      "checkpoint's, else the recipe's, else fp32)"),
      std::move(policyOption),
      std::move(deviceOption),
      number(
          "threads", [this](uint64_t value) { threads = value; }, 1, 4096,
          "worker threads (one a core); results do not depend on it"),
      text("plan", "FILE", plan,
           "kernels for matrix products, as 'mp-run tune' found them",
           Names::Input),
      std::move(onednnOption),
      text("reproducer", "FILE", reproducer,
           "where a compiler pass fails or crashes, write the module before "
           "it, and how to rerun it",
           Names::Output),
      list("load-pass-plugin", "FILE", passPlugins,
           "shared library with passes for --insert-pass", Names::Input),
      std::move(insertOption),
      flag("dump-pass-pipeline", dumpPipeline, true,
           "print the passes of each compilation, as mp-opt --pass-pipeline "
           "takes them, on standard error"),
  };
}

bool isOfPasses(const Option &option) {
  return llvm::is_contained(
      {"load-pass-plugin", "insert-pass", "dump-pass-pipeline"}, option.name);
}

static Option anyScaler(std::string &to, std::string help) {
  Option option = text("scaler", "NAME", to, std::move(help));
  option.set = [&to](StringRef given) -> Error {
    to = given.str();
    auto known = parseScaler(given);
    if (!known)
      return make_error<UsageError>("--scaler: " + toString(known.takeError()));
    return Error::success();
  };
  return option;
}

Option scalerOption(std::string &to, std::string help) {
  Option option = anyScaler(to, std::move(help));
  option.set = [parse = option.set](StringRef given) -> Error {
    if (given == "static:auto")
      return make_error<UsageError>(
          "--scaler: static:auto is for mp-run train: name the scale that "
          "'mp-run calibrate' finds, as static:N");
    return parse(given);
  };
  return option;
}

std::vector<Option> RecipeOptions::table() {
  Option scalerOption = anyScaler(
      scaler,
      "loss scaler: torch, apex, apex-hysteresis, keras, keras2, deepspeed, "
      "deepspeed-consecutive, megatron, fairseq, jmp, static:N, static:auto or "
      "none (the checkpoint's, else the recipe's)");
  return {
      text("function", "NAME", function, "which recipe (the only one)"),
      std::move(scalerOption),
      text("scales", "FILE", scales,
           "give each f16 gradient a power of two of its own, from what "
           "'mp-run calibrate --json' wrote (the checkpoint's, else none)",
           Names::Input),
      number(
          "accumulate", [this](uint64_t n) { accumulate = n; }, 1,
          1'000'000'000,
          "micro-batches a step, which is as one of N times --batch records "
          "(the recipe's)"),
      positive("clip-norm", clipNorm,
               "largest norm of all gradients (the recipe's); inf: any"),
      positive("clip-value", clipValue,
               "largest element of a gradient (the recipe's); inf: any"),
      choice("nan-check", nanCheck, {"off", "step", "all"},
             "name the first op whose result is not finite: step, in a report "
             "of the step, for hardly any time; all, with a table of every "
             "op's values; a recipe that is not scaled then ends there (off)"),
      text("recompute", "KEEP", recompute,
           "what is kept for backward, which computes the rest again: marked, "
           "all or a size such as 64MiB (the recipe's)"),
  };
}

void RecipeOptions::apply(CompileOptions &options) const {
  options.function = function;
  options.scaler = scaler;
  options.scales = scales;
  options.recompute = recompute;
  options.nanCheck = nanCheck == "off" ? "" : nanCheck;
  options.clipNorm = clipNorm.value_or(0);
  options.clipValue = clipValue.value_or(0);
  options.accumulate = accumulate.value_or(0);
}

} // namespace mp::tool
