//===- Eval.cpp - mp-run eval ---------------------------------------------===//
#include "program/Limits.h"
#include "runtime/train/Evaluate.h"
#include "support/Error.h"
#include "tools/run/Commands.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp::tool {

void takeCommon(EvalOptions &options, const CommonOptions &common) {
  options.precision = common.recipe.precision;
  options.policy = common.recipe.policy;
  options.device = common.device;
  options.threads = common.threads;
  options.onednn = common.onednn;
  options.plan = common.plan;
  options.plugins = common.plugins;
  options.insertPasses = common.insertPasses;
  options.onNote = note;
}

Option bucketsOption(std::vector<int64_t> &to) {
  return {"buckets", "N,N,...",
          "put samples into batches of about one length, by the column "
          "'lengths' of the data, and fill them only to the next of these "
          "numbers of tokens; FILE is a network's name, or net-{tokens}.mlir",
          [&to](StringRef given) -> Error {
            Expected<std::vector<int64_t>> lengths = parseBuckets(given);
            if (!lengths)
              return make_error<UsageError>("--buckets: " +
                                            toString(lengths.takeError()));
            to = std::move(*lengths);
            return Error::success();
          }};
}

int eval(ArrayRef<const char *> arguments) {
  EvalOptions options;
  CommonOptions common;
  Command command{
      "eval", "FILE --data DIR --checkpoint RUN [options]",
      "Scores a checkpoint or plain weights on the data source 'test' "
      "of FILE."};
  command.positional = 1;
  command.options = {
      text("data", "DIR", options.data,
           "folder with the files of FILE's mp.data", Names::Input),
      text("checkpoint", "RUN", options.checkpoint,
           "run folder, checkpoint, or safetensors file of weights",
           Names::InputRun),
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples at a time (256, or as many as there are streams)"),
      bucketsOption(options.buckets),
      flag("ema", options.averaged, true,
           "score the moving averages of weights that the recipe's ema keeps"),
      text("function", "NAME", options.function, "which recipe (the only one)"),
  };
  llvm::append_range(command.options, common.table());
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  if (options.data.empty() || options.checkpoint.empty())
    return report(make_error<UsageError>("--data DIR and --checkpoint RUN are "
                                         "needed"));
  options.module = others->value().front();
  takeCommon(options, common);
  Expected<NamedNumbers> numbers = evaluate(options, common.compiler());
  if (!numbers)
    return report(numbers.takeError());
  for (auto &[name, value] : *numbers)
    outs() << "test " << withoutControls(name) << format(" %.6g\n", value);
  return 0;
}

} // namespace mp::tool
