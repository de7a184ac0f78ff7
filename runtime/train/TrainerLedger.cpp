//===- TrainerLedger.cpp - a ledger while training ------------------------===//
#include "runtime/train/Trainer.h"
#include "support/Error.h"
#include "support/ShellWord.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mp {

/// What writes a calibration of this run.
std::string Trainer::calibrateCommand() const {
  std::string command = "mp-run calibrate " + shellWord(options.module);
  auto add = [&](StringRef option, StringRef value) {
    if (!value.empty())
      command += (" --" + option + " " + shellWord(value)).str();
  };
  add("function", options.function);
  add("data", options.data);
  add("batch", std::to_string(run.batch));
  add("seed", std::to_string(run.seed));
  command += run.shuffle ? "" : " --no-shuffle";
  add("init", options.init);
  add("precision", run.precision);
  add("policy", run.policy);
  add("device", options.device);
  add("json", outPath("scales.json"));
  return command;
}

Error Trainer::setUpLedger(ModelOptions modelOptions, Compiler compiler,
                           const SessionFactory &createSession) {
  if (!options.ledgerEvery)
    return Error::success();
  if (options.out.empty())
    return makeError(
        "--ledger is written to a run folder: name one, --out RUN");
  if (!run.scales.empty())
    return makeError("--ledger counts at one loss scale, and --scales gives "
                     "each gradient its own: leave out one of them");
  // The choice is made, and said.
  modelOptions.device = model->device();
  modelOptions.compile.scaler = run.scaler;
  auto made = TrainingLedger::create(
      {.model = std::move(modelOptions),
       .plan = plan,
       .seed = run.seed,
       .shuffle = run.shuffle,
       .scales = {outPath("scales.json"), calibrateCommand()}},
      std::move(compiler), createSession);
  if (!made)
    return makeError("{0}: --ledger: {1}", options.module,
                     toString(made.takeError()));
  ledger = std::move(*made);
  return Error::success();
}

Error Trainer::openLedger() {
  std::string path = outPath("ledger.jsonl");
  if (ledger)
    return ledger->open(path, run.step);
  if (!sys::fs::exists(path))
    return Error::success();
  return MetricsFile::open(path, run.step).takeError();
}

Error Trainer::writeLedger(Progress &progress) {
  if (!ledger || ledger->has(run.step))
    return Error::success();
  // The next step's batch, or the last one's.
  int64_t batch = std::min(run.step, totalSteps() - 1);
  auto warning = ledger->write(session(), *trainData, run.step, batch);
  if (!warning)
    return warning.takeError();
  if (!warning->empty() && options.log) {
    progress.endLine();
    *options.log << *warning << "\n";
  }
  return Error::success();
}

} // namespace mp
