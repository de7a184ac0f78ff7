//===- Train.cpp - mp-run train -------------------------------------------===//
#include "program/Limits.h"
#include "runtime/ranks/OpenRanks.h"
#include "runtime/train/Monitor.h"
#include "runtime/train/Progress.h"
#include "runtime/train/RunRanks.h"
#include "runtime/train/Trainer.h"
#include "support/Error.h"
#include "tools/common/Streams.h"
#include "tools/run/Commands.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace mp::tool {

static Option monitorOption(std::optional<std::string> &to) {
  return {"monitor", "max|min:NAME",
          "keep the checkpoint whose evaluation is best, by the highest or "
          "lowest result: max:accuracy, min:loss; ema.accuracy is that of "
          "averaged weights",
          [&to](StringRef given) -> Error {
            to = given.str();
            if (auto known = Monitor::parse(given); !known)
              return make_error<UsageError>("--monitor: " +
                                            toString(known.takeError()));
            return Error::success();
          }};
}

static Command describe(TrainOptions &options, CommonOptions &common) {
  Command command{
      "train", "FILE --data DIR [options]",
      "Trains the recipe in FILE on its data source 'train'. RUN gets "
      "metrics.jsonl, summary.json,\nplan.json, casts.json and "
      "checkpoint.safetensors; mp-run report makes a page of them.\nCtrl-C "
      "saves the checkpoint and exits with 130, SIGTERM with 143."};
  command.positional = 1;
  command.takesConfig = true;
  command.options = {
      text("data", "DIR", options.data,
           "folder with the files of FILE's mp.data", Names::Input),
      text("out", "RUN", options.out,
           "run folder to write; an earlier checkpoint there is set aside (the "
           "resumed one; else nothing is written)",
           Names::OutputRun),
      number(
          "epochs", [&](uint64_t n) { options.epochs = n; }, 1, kMostCount,
          "passes over the data (1)"),
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples a step, or a micro-batch (32)"),
      number(
          "seed", [&](uint64_t n) { options.seed = n; }, 0, UINT64_MAX,
          "of first weights, order and random ops (0)"),
      number(
          "max-steps", [&](uint64_t n) { options.maxSteps = n; }, 1, INT64_MAX,
          "stop after step N; the schedule keeps its length"),
      text("resume", "RUN", options.resume,
           "go on from a run folder or a checkpoint, bit for bit",
           Names::InputRun),
      flag("resume-anyway", options.resumeAnyway, true,
           "resume a graph or a setting that is not the checkpoint's, and note "
           "how they differ"),
      text("init", "FILE", options.init,
           "first weights, a safetensors file with PyTorch's names",
           Names::Input),
      list("init-except", "PATTERN", options.initExcept,
           "weights that are initialised anew, not taken from --init, such as "
           "'fc.*'; may be repeated"),
      flag("drop-last", options.dropLast, true,
           "leave out the smaller batch at the end of an epoch"),
      flag("no-shuffle", options.shuffle, false, "take the samples in order"),
      bucketsOption(options.buckets),
      number(
          "max-skipped", [&](uint64_t n) { options.maxSkipped = n; }, 0,
          kMostCount,
          "end the run where N steps in a row were skipped (100); 0: never"),
      number(
          "checkpoint-every", [&](uint64_t n) { options.checkpointEvery = n; },
          1, kMostCount, "steps between checkpoints (an epoch's)"),
      number(
          "keep-last", [&](uint64_t n) { options.keepLast = n; }, 1, kMostCount,
          "keep the last N checkpoints too, each under the number of its step"),
      number(
          "eval-every", [&](uint64_t n) { options.evalEvery = n; }, 1,
          kMostCount,
          "steps between evaluations on the data source 'test' (an epoch's)"),
      monitorOption(options.monitor),
      number(
          "patience", [&](uint64_t n) { options.patience = n; }, 0, kMostCount,
          "end the run after N evaluations that were not better than the best "
          "of --monitor; 0: never"),
      number(
          "ledger", [&](uint64_t n) { options.ledgerEvery = n; }, 1, kMostCount,
          "count what f16 makes of gradients, every N steps, in ledger.jsonl"),
      number(
          "data-threads", [&](uint64_t n) { options.pictures.threads = n; }, 1,
          1024, "threads that decode pictures (half of the cores)"),
      number(
          "data-cache",
          [&](uint64_t n) { options.pictures.cacheBytes = n << 20; }, 0,
          kMostCount,
          "MiB of decoded pictures that are kept (a quarter of the memory)"),
      flag("shard-optimizer", options.shardOptimizer, true,
           "let each rank keep a part of the optimizer's state (ZeRO-1); the "
           "bits and the checkpoints are the same"),
      flag("tensorboard", options.tensorBoard, true,
           "write metrics and evaluations to RUN as events for TensorBoard: "
           "tensorboard --logdir RUN"),
      text("profile", "FILE", options.profile,
           "in the end, time every launch of a step and write them as JSON",
           Names::Output),
      text("trace", "FILE", options.trace,
           "write what each thread did when, for chrome://tracing",
           Names::Output),
  };
  llvm::append_range(command.options,
                     recipeOptions(options.function, common.recipe));
  llvm::append_range(command.options, common.table());
  return command;
}

static void printSummary(const Summary &summary) {
  raw_ostream &os = outs();
  if (summary.trainLoss)
    os << "train loss " << metricText(*summary.trainLoss) << "\n";
  for (auto &[name, value] : summary.test)
    os << "test " << withoutControls(name) << " " << metricText(value) << "\n";
  os << "steps " << summary.steps << ", skipped " << summary.skippedSteps
     << ", loss scale " << scaleText(summary.finalScale)
     << format(", %.1f s\n", summary.trainSeconds);
}

/// Before the first step and after the last one, a signal ends the process at
/// once: nothing is there to be saved, or all has been. A signal that the shell
/// ignores, as in the background, stays ignored. Several ranks say nothing:
/// what has started them does.
static void exitOnSignals(bool isAlone) {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int signal) { _exit(128 + signal); };
  if (isAlone)
    action.sa_handler = [](int signal) {
      constexpr StringLiteral text = "mp-run: interrupted\n";
      (void)!write(STDERR_FILENO, text.data(), text.size());
      _exit(128 + signal);
    };
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM})
    if (sigaction(signal, nullptr, &before) == 0 &&
        before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
}

/// Reports an error of a run: of several ranks, once for all of them, which it
/// ends.
static int reportOfRun(const std::shared_ptr<Communicator> &ranks,
                       Error error) {
  if (ranks)
    ranks->abort("mp-run: " + toString(std::move(error)));
  return report(std::move(error));
}

int train(ArrayRef<const char *> arguments) {
  TrainOptions options;
  CommonOptions common;
  auto joined = openRanks();
  if (!joined)
    return report(joined.takeError());
  std::shared_ptr<Communicator> ranks = options.ranks = std::move(*joined);
  bool leads = !ranks || ranks->rank() == 0;
  auto others = describe(options, common).parse(arguments);
  if (others && !*others)
    return 0;
  Error mistake = others.takeError();
  if (!mistake && options.data.empty())
    mistake = make_error<UsageError>("--data DIR is missing");
  if (ranks)
    mistake = agree(*ranks, std::move(mistake));
  if (mistake)
    return reportOfRun(ranks, std::move(mistake));
  options.module = others->value().front();
  options.settings() = common.recipe;
  options.device = common.device;
  options.threads = common.threads;
  options.onednn = common.onednn;
  options.plan = common.plan;
  options.plugins = common.plugins;
  options.insertPasses = common.insertPasses;
  if (options.out.empty() && sys::fs::is_directory(options.resume))
    options.out = options.resume;
  options.handleSignals = true;
  options.log = &errs();
  std::string out = options.out;
  exitOnSignals(!ranks);
  auto trainer = Trainer::create(std::move(options), common.compiler());
  if (!trainer)
    return reportOfRun(ranks, trainer.takeError());
  if (out.empty() && leads)
    errs() << "note: this run keeps nothing: --out RUN keeps its weights, "
              "metrics and checkpoints\n";
  Expected<TrainOutcome> outcome = (*trainer)->train();
  if (!outcome)
    return reportOfRun(ranks, outcome.takeError());
  if (!leads)
    return outcome->signal ? 128 + outcome->signal : 0;
  printSummary(outcome->summary);
  if (dropUnreadOutput())
    errs() << "note: nobody reads standard output; summary.json has what was "
              "printed\n";
  if (!outcome->signal)
    return 0;
  errs() << "interrupted after step " << outcome->summary.steps
         << (out.empty() ? ", nothing saved as there is no --out"
                         : ", go on with --resume " + out)
         << "\n";
  return 128 + outcome->signal;
}

} // namespace mp::tool
