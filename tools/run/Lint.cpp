//===- Lint.cpp - mp-run lint ---------------------------------------------===//
#include "codegen/Plugins.h"
#include "precision/compare/Work.h"
#include "program/Limits.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "tools/run/Commands.h"

using namespace llvm;

namespace mp::tool {
namespace {

struct LintRun {
  std::string module, precision, policy;
  std::vector<std::string> plugins;
  mp::LintOptions pass;
  std::optional<double> magnitude;
  bool fails = false;
};

Command describe(LintRun &options) {
  Command command{"lint", "FILE [options]",
                  "Warns of numbers that will go wrong when FILE's recipes "
                  "train, without running anything: the\npass mp-lint, as "
                  "mp-opt --mp-lint has it too. docs/lint.md explains the "
                  "checks."};
  command.positional = 1;
  Option disable = text("disable", "CHECK", options.policy,
                        "a check that is not made, such as sum-overflow; may "
                        "be given several times");
  disable.set = [&options](StringRef given) {
    append_range(options.pass.disable, split(given, ','));
    return Error::success();
  };
  command.options = {
      precisionOption(options.precision, "what it is cast to (the recipe's)"),
      text("policy", "NAME", options.policy,
           "autocast policy that it is cast by (the recipe's)"),
      number(
          "batch", [&](uint64_t n) { options.pass.batch = n; }, 1, kMostCount,
          "samples a batch; else sums over ? have no bound"),
      positive("magnitude", options.magnitude,
               "numbers of unknown size are taken to be at most this in sums "
               "(1)"),
      std::move(disable),
      list("load-dialect-plugin", "FILE", options.plugins,
           "shared library with a dialect of one's own", Names::Input),
      flag("fail", options.fails, true, "exit with 1 where there is a warning"),
  };
  return command;
}

Error execute(const LintRun &options) {
  auto buffer = readText(options.module);
  if (!buffer)
    return buffer.takeError();
  if (Error error = PassRegistryAccess().load(options.plugins))
    return error;
  size_t warnings = 0;
  precision::Work work((*buffer)->getBuffer(), options.module,
                       [&](StringRef text) {
                         ++warnings;
                         outs() << text << "\n";
                       });
  if (!work.module)
    return work.failed();
  mp::LintOptions pass = options.pass;
  auto precision = resolvePrecision(options.precision);
  if (!precision)
    return precision.takeError();
  pass.dtype = precision->dtype.str();
  pass.policy =
      options.policy.empty() ? precision->policy.str() : options.policy;
  // Training with this precision would use a loss scaler.
  if (!precision->defaultScaler.empty())
    pass.disable.push_back("f16-without-scaler");
  pass.magnitude = options.magnitude.value_or(pass.magnitude);
  if (auto error = work.run(createLint(pass)))
    return error;
  if (warnings == 0)
    outs() << options.module << ": no warnings\n";
  if (warnings && options.fails)
    return makeError("{0}: {1} warning{2}", options.module, warnings,
                     warnings == 1 ? "" : "s");
  return Error::success();
}

} // namespace

int lint(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
