//===- Trainer.cpp - trains a module on a folder of data ------------------===//
#include "runtime/train/Trainer.h"
#include "runtime/train/CheckpointWriter.h"
#include "runtime/train/EvaluationObserver.h"
#include "runtime/train/LedgerObserver.h"
#include "runtime/train/NanCheckObserver.h"
#include "runtime/train/ProfileWriter.h"
#include "runtime/train/RunCheckpoint.h"
#include "runtime/train/RunRanks.h"
#include "runtime/train/SkipWatch.h"
#include "runtime/train/TensorBoardWriter.h"
#include "runtime/train/TrainingLoop.h"
#include "runtime/train/TrainingSetUp.h"
#include "support/Error.h"
#include "llvm/ADT/ScopeExit.h"
#include <array>

using namespace llvm;

namespace mp {

/// Observers live as long as the Trainer, as train() may be called again after
/// a signal.
struct Trainer::Observers {
  explicit Observers(const TrainingSetUp &made)
      : progress(*made.run),
        nanCheck(*made.run, *made.search, *made.steps, progress),
        skips(*made.run, *made.search), metrics(*made.run, progress),
        evaluations(*made.run, *made.steps, progress),
        tensorBoard(*made.run, evaluations, progress),
        checkpoints(*made.run, metrics),
        ledger(*made.run, made.ledger.get(), progress),
        profile(*made.run, *made.steps) {}

  /// Shortens the files of an earlier run to the step where this run begins.
  Error openFiles() {
    if (Error error = metrics.open())
      return error;
    if (Error error = evaluations.open())
      return error;
    if (Error error = ledger.open())
      return error;
    return nanCheck.open();
  }

  ProgressObserver progress;
  NanCheckObserver nanCheck;
  SkipWatch skips;
  MetricsWriter metrics;
  EvaluationObserver evaluations;
  TensorBoardWriter tensorBoard;
  CheckpointWriter checkpoints;
  LedgerObserver ledger;
  ProfileWriter profile;
  /// Observers are told of a step in this order. Progress comes before what is
  /// wrong with the step. The NaN check explains a non-finite step before the
  /// run is given up or its line is written, and goes back to a finite state
  /// before that is saved. A checkpoint covers only metrics that are written,
  /// and the evaluation of its step.
  std::array<TrainingObserver *, 9> all = {
      &progress,    &nanCheck,    &skips,  &metrics, &evaluations,
      &tensorBoard, &checkpoints, &ledger, &profile};
};

Trainer::Trainer(TrainingSetUp made)
    : parts(std::make_unique<TrainingSetUp>(std::move(made))),
      observers(std::make_unique<Observers>(*parts)) {}

Trainer::~Trainer() = default;

Expected<std::unique_ptr<Trainer>>
Trainer::create(TrainOptions options, Compiler compiler,
                SessionFactory createSession) {
  std::shared_ptr<Communicator> ranks = options.ranks;
  if (ranks) {
    ranks->setBusy(true); // it compiles
    if (ranks->rank() != 0) {
      options.log = nullptr;
      options.tensorBoard = false;
    }
  }
  auto made = setUpTraining(std::move(options), std::move(compiler),
                            std::move(createSession));
  if (ranks)
    if (Error error = agree(*ranks, made.takeError()))
      return std::move(error);
  if (!made)
    return made.takeError();
  if (ranks)
    if (Error error = checkAlike(*made->run))
      return std::move(error);
  std::unique_ptr<Trainer> trainer(new Trainer(std::move(*made)));
  if (Error error = trainer->observers->evaluations.checkMonitor())
    return std::move(error);
  return trainer;
}

Session &Trainer::session() { return parts->run->session(); }
int64_t Trainer::stepsDone() const { return parts->run->state.step; }
int64_t Trainer::stepsPerEpoch() const {
  return parts->run->plan.stepsPerEpoch();
}
int64_t Trainer::totalSteps() const { return parts->run->totalSteps(); }
double Trainer::compileSeconds() const { return parts->run->compileSeconds; }

Expected<StepMetrics> Trainer::step() {
  const TrainingRun &run = *parts->run;
  int64_t done = run.state.step, total = run.totalSteps();
  if (done >= run.lastStep())
    return makeError("the run is over after {0} steps{1}", done,
                     done < total
                         ? formatv(": maxSteps is {0}, and there are {1}",
                                   run.options.maxSteps, total)
                               .str()
                         : "");
  if (Error error = parts->steps->submit())
    return error;
  return parts->steps->finish();
}

Expected<std::string> Trainer::explainSkip() {
  return parts->search->explain();
}

Expected<Profile> Trainer::profile() { return parts->steps->profile(); }

Expected<NamedNumbers> Trainer::evaluate() {
  const TrainingRun &run = *parts->run;
  if (!run.testData)
    return makeError("{0}: the module has no data source 'test'",
                     run.options.module);
  return scores(*run.model, *run.testData, run.plan.microRows());
}

Error Trainer::save(StringRef path) { return saveRun(*parts->run, path); }

Error Trainer::load(StringRef path) {
  if (Error error = loadRun(*parts->run, path))
    return error;
  parts->steps->drop();
  parts->run->gaveUp.clear();
  parts->run->stopped.clear();
  parts->run->dataProblem.clear();
  return Error::success();
}

static Error writeTrace(const TrainingRun &run) {
  if (run.trace && run.options.ranks)
    return writeTraceOfRanks(run);
  return run.trace ? run.trace->write(run.options.trace) : Error::success();
}

Expected<TrainOutcome> Trainer::train() {
  TrainingRun &run = *parts->run;
  auto unlock = scope_exit([&] { run.lock.reset(); });
  if (run.writes()) {
    if (Error error = run.makeFolder())
      return error;
    if (Error error = observers->openFiles())
      return error;
  }
  TrainingLoop loop(*parts->run, *parts->steps, observers->all);
  Expected<int> signal = loop.runSteps();
  observers->progress.endLine();
  if (!signal)
    return run.explain(signal.takeError());
  Error useless = run.dataError();
  if (!useless && !*signal)
    useless = observers->skips.judge();
  NamedNumbers test;
  if (run.testData && !run.hasFailed() && !*signal && !useless) {
    Expected<NamedNumbers> scored = observers->evaluations.current();
    if (!scored)
      return run.explain(scored.takeError());
    test = std::move(*scored);
  }
  run.noteReplacedFiles();
  TrainOutcome outcome{run.summarize(loop.seconds()), *signal};
  outcome.summary.test = std::move(test);
  Error written = run.writes()
                      ? run.write("summary.json", toJson(outcome.summary))
                      : Error::success();
  if (Error error = joinErrors(std::move(written), std::move(useless)))
    return joinErrors(std::move(error), writeTrace(run));
  for (TrainingObserver *observer : observers->all)
    if (Error error = observer->runEnded(outcome))
      return error;
  if (Error error = writeTrace(run))
    return error;
  return outcome;
}

} // namespace mp
