//===- LedgerObserver.cpp - gradient statistics while a run trains --------===//
#include "runtime/train/LedgerObserver.h"
#include "support/Error.h"
#include "support/ShellWord.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mp {

/// The command that writes a calibration of this run.
static std::string calibrateCommand(const TrainingRun &run) {
  const TrainOptions &options = run.options;
  std::string command = "mp-run calibrate " + shellWord(options.module);
  auto add = [&](StringRef option, StringRef value) {
    if (!value.empty())
      command += (" --" + option + " " + shellWord(value)).str();
  };
  add("function", options.function);
  add("data", options.data);
  add("batch", std::to_string(run.state.batch));
  add("seed", std::to_string(run.state.seed));
  command += run.state.shuffle ? "" : " --no-shuffle";
  add("init", options.init);
  add("precision", run.state.precision);
  add("policy", run.state.policy);
  add("device", options.device);
  add("json", run.path("scales.json"));
  return command;
}

Expected<std::unique_ptr<TrainingLedger>>
makeLedger(const TrainingRun &run, ModelOptions model, Compiler compiler,
           const SessionFactory &createSession) {
  if (!run.options.ledgerEvery)
    return nullptr;
  if (!run.writes())
    return makeError(
        "--ledger is written to a run folder: name one, --out RUN");
  if (!run.state.scales.empty())
    return makeError("--ledger counts at one loss scale, and --scales gives "
                     "each gradient its own: leave out one of them");
  // The run has already chosen and reported device and scaler.
  model.device = run.model->device();
  model.compile.scaler = run.state.scaler;
  auto made = TrainingLedger::create(
      {.model = std::move(model),
       .plan = run.plan,
       .seed = run.state.seed,
       .shuffle = run.state.shuffle,
       .scales = {run.path("scales.json"), calibrateCommand(run)}},
      std::move(compiler), createSession);
  if (!made)
    return makeError("{0}: --ledger: {1}", run.options.module,
                     toString(made.takeError()));
  return made;
}

Error LedgerObserver::open() {
  std::string path = run.path("ledger.jsonl");
  if (ledger)
    return ledger->open(path, run.state.step);
  if (!sys::fs::exists(path))
    return Error::success();
  return MetricsFile::open(path, run.state.step).takeError();
}

int64_t LedgerObserver::nextPause() const {
  return ledger ? nextMultiple(run.state.step, run.options.ledgerEvery) : never;
}

Error LedgerObserver::stepFinished(StepMetrics &) {
  bool isDue = ledger && run.state.step % run.options.ledgerEvery == 0;
  return isDue ? write() : Error::success();
}

Error LedgerObserver::stepsEnded(bool interrupted) {
  return interrupted ? Error::success() : write();
}

/// Adds a line, unless the last one is of this step.
Error LedgerObserver::write() {
  int64_t step = run.state.step;
  if (!ledger || ledger->has(step))
    return Error::success();
  // A ledger uses the next step's batch; after the last step, that step's.
  int64_t batch = std::min(step, run.totalSteps() - 1);
  auto warning = ledger->write(run.session(), *run.trainData, step, batch);
  if (!warning)
    return warning.takeError();
  if (!warning->empty() && run.options.log) {
    progress.endLine();
    *run.options.log << withoutControls(*warning) << "\n";
  }
  return Error::success();
}

} // namespace mp
