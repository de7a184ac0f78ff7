//===- Common.cpp - options that several tools share ----------------------===//
#include "tools/common/Common.h"
#include "codegen/Compile.h"
#include "passes/Passes.h"
#include "passes/autocast/Policy.h"
#include "passes/inspect/PassInsertion.h"
#include "program/Limits.h"
#include "runtime/Device.h"
#include "support/Error.h"
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

/// Policies in the module or in a file are looked up at compilation.
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

static Option policyOption(std::string &to, std::string help) {
  Option option = text("policy", "NAME", to, std::move(help));
  option.set = [&to](StringRef given) -> Error {
    to = given.str();
    return checkPolicy(given);
  };
  return option;
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

static Option optionOf(const SettingInfo &info, std::string &to) {
  switch (info.text) {
  case SettingText::Precision:
    return precisionOption(to, info.help.str());
  case SettingText::Policy:
    return policyOption(to, info.help.str());
  case SettingText::Scaler:
    return anyScaler(to, info.help.str());
  case SettingText::File:
    return text(info.name.str(), info.value.str(), to, info.help.str(),
                Names::Input);
  case SettingText::Choice: {
    Option option =
        choice(info.name.str(), to, {info.choices.begin(), info.choices.end()},
               info.help.str());
    option.set = [set = option.set, &to,
                  none = info.choices.front()](StringRef given) -> Error {
      Error error = set(given);
      if (to == none)
        to.clear();
      return error;
    };
    return option;
  }
  case SettingText::List:
    return {info.name.str(), info.value.str(), info.help.str(),
            [&to](StringRef given) {
              to += (to.empty() ? "" : ";") + given.str();
              return Error::success();
            }};
  case SettingText::Any:
    return word(info.name.str(), info.value.str(), to, info.help.str());
  }
  llvm_unreachable("all texts handled");
}
static Option optionOf(const SettingInfo &info, int64_t &to) {
  return number(
      info.name.str(), [&to](uint64_t given) { to = given; }, 1, kMostCount,
      info.help.str());
}
static Option optionOf(const SettingInfo &info, double &to) {
  return positive(
      info.name.str(), [&to](double given) { to = given; }, info.help.str());
}

/// Returns the options of all settings of that scope.
static std::vector<Option> settingOptions(RecipeSettings &to,
                                          SettingScope scope) {
  std::vector<Option> table;
  forEachSetting([&](const SettingInfo &info, auto field) {
    if (info.scope == scope)
      table.push_back(optionOf(info, to.*field));
  });
  return table;
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
      errs() << withoutControls(text) + "\n";
  };
  return [sayOnce, own = *this](StringRef module, const CompileOptions &options,
                                KernelSink *sink) {
    CompileOptions telling = options;
    telling.reproducer = own.reproducer;
    telling.plugins = own.plugins;
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
  errs() << withoutControls(line) + "\n";
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
  return {.precision = recipe.precision,
          .device = device,
          .plan = plan,
          .threads = threads,
          .onednn = onednn,
          .compiler = compiler(),
          .onNote = noteOnce()};
}

std::vector<Option> CommonOptions::table() {
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
      "onednn", "never|always",
      "oneDNN for matrix products of f32 and bf16 on the CPU, where it is "
      "installed: to compare with the generated code (never)",
      [this](StringRef given) -> Error {
        if (given != "never" && given != "always")
          return make_error<UsageError>(
              "--onednn takes never or always, not '" + given.str() + "'");
        onednn = given == "always";
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
  std::vector<Option> table = settingOptions(recipe, SettingScope::Graph);
  std::vector<Option> others = {
      std::move(deviceOption),
      number(
          "threads", [this](uint64_t value) { threads = value; }, 1, 4096,
          "worker threads (one a core); results do not depend on it"),
      text("plan", "FILE", plan,
           "CUDA kernels for matrix products, as 'mp-run tune' found them",
           Names::Input),
      std::move(onednnOption),
      text("reproducer", "FILE", reproducer,
           "where a compiler pass fails or crashes, write the module before "
           "it, and how to rerun it",
           Names::Output),
      list("load-pass-plugin", "FILE", plugins,
           "shared library with passes for --insert-pass, or with dialects",
           Names::Input),
      list("load-dialect-plugin", "FILE", plugins,
           "shared library with a dialect of one's own", Names::Input),
      std::move(insertOption),
      flag("dump-pass-pipeline", dumpPipeline, true,
           "print the passes of each compilation, as mp-opt --pass-pipeline "
           "takes them, on standard error"),
  };
  append_range(table, std::move(others));
  return table;
}

bool isOfPasses(const Option &option) {
  return llvm::is_contained(
      {"load-pass-plugin", "insert-pass", "dump-pass-pipeline"}, option.name);
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

std::vector<Option> recipeOptions(std::string &function, RecipeSettings &to) {
  std::vector<Option> table = {
      text("function", "NAME", function, "which recipe (the only one)")};
  append_range(table, settingOptions(to, SettingScope::Step));
  return table;
}

} // namespace mp::tool
