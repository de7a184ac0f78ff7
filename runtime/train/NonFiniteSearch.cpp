//===- NonFiniteSearch.cpp - where a run's steps stop being finite --------===//
#include "runtime/train/NonFiniteSearch.h"
#include "support/Error.h"
#include <cmath>

using namespace llvm;

namespace mp {

/// On a device, where steps overlap, waiting for a micro-batch is worth it only
/// if every op is recorded.
Error NonFiniteSearch::microBatch(Executable &executable,
                                  Executable::Ticket ticket, int64_t step,
                                  int64_t micro) {
  if (!seesEveryOp() && run.session().stepsInFlight() > 1)
    return Error::success();
  auto results = executable.results(ticket);
  if (!results)
    return results.takeError();
  const Entry &entry = executable.entry();
  if (seesEveryOp() && !gathered)
    gatheredValues = readRecords(entry, *results);
  if (gathered || !anyNonFinite(entry, *results, /*applied=*/true))
    return Error::success();
  gathered = findNonFiniteOrigin(entry, readRecords(entry, *results),
                                 /*applied=*/true, /*isCertain=*/false);
  if (gathered)
    describeSamples(run, *gathered, step, micro);
  return Error::success();
}

Error NonFiniteSearch::finished(const StepResults &step, StepMetrics &metrics) {
  bool applied = !metrics.skipped;
  std::string broken =
      applied ? firstBrokenState(step.entry, step.results) : "";
  bool isWell = applied && std::isfinite(metrics.loss) && broken.empty();
  std::optional<NonFiniteOrigin> origin = std::exchange(gathered, std::nullopt);
  if (seesEveryOp() && (!isWell || !found)) {
    stepValues = std::exchange(gatheredValues, {});
    append_range(stepValues, readRecords(step.entry, step.results));
    stepOfValues = metrics.step;
  }
  if (isWell)
    return Error::success();
  // Records of kernels name only a kernel; a step that was skipped can be
  // replayed to find the op.
  if (!seesEveryOp() && metrics.changedNothing() && !step.overlaps) {
    auto exact = replayStep(run, metrics.step - 1, ReplayFrom::StateAfterSkip);
    if (!exact)
      return exact.takeError();
    if (*exact)
      origin = std::move(*exact);
  }
  if (!origin) {
    origin = findNonFiniteOrigin(step.entry,
                                 readRecords(step.entry, step.results), applied,
                                 /*isCertain=*/true);
    if (origin)
      describeSamples(run, *origin, metrics.step - 1, std::nullopt);
  }
  stateIsBroken = !broken.empty();
  if (stateIsBroken)
    run.gaveUp = formatv("step {0} made state that is not finite: {1}",
                         metrics.step, broken);
  if (origin)
    note(std::move(*origin), metrics);
  return Error::success();
}

void NonFiniteSearch::note(NonFiniteOrigin origin, StepMetrics &metrics) {
  metrics.nonFinite = origin.str();
  found = std::move(origin);
}

Error NonFiniteSearch::lookFromBefore(StepMetrics &metrics) {
  auto exact = replayStep(run, metrics.step - 1, ReplayFrom::StateBefore);
  if (!exact)
    return exact.takeError();
  if (*exact)
    note(std::move(**exact), metrics);
  return Error::success();
}

Expected<std::string> NonFiniteSearch::explain() {
  int64_t done = run.state.step;
  if (done == 0 && !found)
    return makeError("{0}: no step was run yet", run.options.module);
  if (found && found->step >= done)
    return found->str();
  auto origin = replayStep(run, done - 1, ReplayFrom::StateAfterSkip);
  if (!origin)
    return origin.takeError();
  return *origin ? (*origin)->str() : "";
}

} // namespace mp
