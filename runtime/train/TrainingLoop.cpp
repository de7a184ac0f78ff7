//===- TrainingLoop.cpp - runs the steps and notifies observers -----------===//
#include "runtime/train/TrainingLoop.h"
#include "runtime/train/Interrupt.h"
#include "runtime/train/RunRanks.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;

namespace mp {

/// Submits as many steps as may be under way at a time, but none after the next
/// pause.
Error TrainingLoop::submitSteps() {
  if (run.isEnding())
    return Error::success();
  int64_t pause = run.lastStep();
  for (const TrainingObserver *observer : observers)
    pause = std::min(pause, observer->nextPause());
  while (steps.submitted() < pause &&
         steps.underWay() < run.session().stepsInFlight())
    if (Error error = steps.submit()) {
      // The steps before this one are good, and are saved.
      return handleErrors(std::move(error), [&](const FileChanged &changed) {
        run.dataProblem = changed.message();
      });
    }
  return Error::success();
}

static void setBusy(const std::shared_ptr<Communicator> &ranks, bool busy) {
  if (ranks)
    ranks->setBusy(busy);
}

/// Ranks end after the same step, whichever of them gets a signal or cannot go
/// on.
Error TrainingLoop::agreeWithRanks() {
  if (!run.options.ranks)
    return Error::success();
  Ending own{run.interrupt->requested(), run.hasFailed() ? run.rank() : -1};
  Expected<Ending> all = agree(*run.options.ranks, own);
  if (!all)
    return all.takeError();
  run.agreedSignal = static_cast<int>(all->signal);
  if (all->rank >= 0 && !run.hasFailed())
    run.gaveUp = formatv("rank {0} cannot go on", all->rank);
  return Error::success();
}

/// Submits steps, waits for the oldest one, and notifies the observers. Returns
/// false if no step is left.
Expected<bool> TrainingLoop::runStep() {
  // Observers evaluate and write, for which other ranks wait.
  auto busy = scope_exit([&] { setBusy(run.options.ranks, true); });
  setBusy(run.options.ranks, false);
  if (Error error = agreeWithRanks())
    return error;
  auto start = std::chrono::steady_clock::now();
  if (Error error = submitSteps())
    return error;
  if (!steps.underWay())
    return false;
  Expected<StepMetrics> metrics = steps.finish();
  if (!metrics)
    return metrics.takeError();
  secondsInSteps +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  setBusy(run.options.ranks, true);
  for (TrainingObserver *observer : observers)
    if (Error error = observer->stepFinished(*metrics))
      return error;
  return true;
}

Expected<int> TrainingLoop::runSteps() {
  Interrupt interrupt(run.options.handleSignals);
  run.interrupt = &interrupt;
  auto handled = scope_exit([&] { run.interrupt = nullptr; });
  for (TrainingObserver *observer : observers)
    if (Error error = observer->begin())
      return error;
  while (true) {
    Expected<bool> hasRun = runStep();
    if (!hasRun)
      return hasRun.takeError();
    if (!*hasRun)
      break;
  }
  bool interrupted = run.isInterrupted();
  for (TrainingObserver *observer : observers)
    if (Error error = observer->stepsEnded(interrupted))
      return error;
  // It may have come while the last state was saved.
  return run.interruption();
}

} // namespace mp
