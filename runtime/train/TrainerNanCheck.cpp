//===- TrainerNanCheck.cpp - what a step says is not finite ---------------===//
#include "runtime/train/Interrupt.h"
#include "runtime/train/Trainer.h"
#include "support/Error.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace llvm;

namespace mp {

void Trainer::describeSamples(Offender &offender, int64_t step,
                              int64_t micro) const {
  offender.step = step + 1;
  auto order =
      orderOfEpoch(run.seed, plan.epoch(step), plan.records, run.shuffle);
  bool whole = micro == wholeStep;
  int64_t rows = whole ? plan.rows(step) : plan.rows(step, micro);
  auto records =
      ArrayRef(order).slice(plan.firstRow(step, whole ? 0 : micro), rows);
  offender.records = records.vec();
  if (offender.value.row && *offender.value.row < rows)
    offender.sample = records[*offender.value.row];
  raw_string_ostream os(offender.samples);
  if (!run.shuffle) {
    os << "records " << records.front() << " to " << records.back();
    return;
  }
  constexpr size_t most = 8;
  os << rows << (rows == 1 ? " record" : " records") << " of epoch "
     << plan.epoch(step) + 1 << ": ";
  interleaveComma(records.take_front(most), os);
  if (records.size() > most)
    os << ", ...";
}

/// A micro-batch that the step under way takes. On a device, where steps
/// overlap, only if every op is asked for is it worth waiting.
Error Trainer::lookAtGathered(Executable &executable, Executable::Ticket ticket,
                              int64_t micro) {
  bool all = options.nanCheck == "all";
  if (!all && session().stepsInFlight() > 1)
    return Error::success();
  auto results = executable.results(ticket);
  if (!results)
    return results.takeError();
  const Entry &entry = executable.entry();
  if (all && !gathered)
    gatheredValues = readRecords(entry, *results);
  if (gathered || !anyNonFinite(entry, *results, /*applied=*/true))
    return Error::success();
  gathered = findOffender(entry, readRecords(entry, *results),
                          /*applied=*/true, /*isCertain=*/false);
  if (gathered)
    describeSamples(*gathered, submitted(), micro);
  return Error::success();
}

Error Trainer::lookAtStep(const Entry &entry, Executable::Results results,
                          StepMetrics &metrics) {
  bool applied = !metrics.skipped;
  std::string broken = applied ? firstBrokenState(entry, results) : "";
  bool isWell = applied && std::isfinite(metrics.loss) && broken.empty();
  std::optional<Offender> found = std::exchange(gathered, std::nullopt);
  if (options.nanCheck == "all" && (!isWell || !offender)) {
    values = std::exchange(gatheredValues, {});
    append_range(values, readRecords(entry, results));
    valuesStep = metrics.step;
  }
  if (isWell)
    return Error::success();
  // Records of kernels say which one; what was skipped can be asked again.
  bool canReplay = options.nanCheck == "step" && metrics.changedNothing() &&
                   underWay.empty();
  if (canReplay) {
    auto exact = replayStep(metrics.step - 1, /*rewinds=*/true);
    if (!exact)
      return exact.takeError();
    if (*exact)
      found = std::move(*exact);
  }
  if (!found) {
    found = findOffender(entry, readRecords(entry, results), applied,
                         /*isCertain=*/true);
    if (found)
      describeSamples(*found, metrics.step - 1, wholeStep);
  }
  stateIsBroken = !broken.empty();
  if (stateIsBroken)
    gaveUp = formatv("step {0} made state that is not finite: {1}",
                     metrics.step, broken);
  if (found)
    note(std::move(*found), metrics);
  return Error::success();
}

void Trainer::note(Offender found, StepMetrics &metrics) {
  metrics.nonFinite = found.str();
  offender = std::move(found);
}

Error Trainer::goBack(StepMetrics &metrics, const Interrupt &interrupt) {
  stateIsBroken = false;
  underWay.clear();
  batches.reset();
  if (Error error =
          hasSaved ? load(outPath("checkpoint.safetensors")) : begin())
    return error;
  if (options.log)
    *options.log << "going back from step " << metrics.step << " to step "
                 << run.step << ", and on to where it was still finite\n";
  // As well as it was before: nothing is asked on the way.
  std::string asked = std::exchange(options.nanCheck, "");
  auto restored = scope_exit([&] { options.nanCheck = asked; });
  while (run.step < metrics.step - 1 && !interrupt.requested())
    if (auto again = step(); !again)
      return again.takeError();
  // Every op of it is known, or it is not there.
  if (asked == "all" || interrupt.requested())
    return Error::success();
  auto exact = replayStep(metrics.step - 1, /*rewinds=*/false);
  if (!exact)
    return exact.takeError();
  if (*exact)
    note(std::move(**exact), metrics);
  return Error::success();
}

Error Trainer::tellOffender(Progress &progress, const StepMetrics &metrics) {
  if (metrics.nonFinite.empty())
    return Error::success();
  constexpr int64_t most = 10;
  if (options.log && ++offendersFound <= most) {
    progress.endLine();
    *options.log << "step " << metrics.step << " is not finite, beginning with "
                 << metrics.nonFinite << "\n";
    if (offendersFound == most)
      *options.log << "further ones are not shown"
                   << (options.out.empty() ? "" : ", but in offenders.jsonl")
                   << "\n";
  }
  if (!offenders)
    return Error::success();
  offenders->add(metrics.step, toJson(*offender));
  return offenders->flush();
}

Error Trainer::openOffenders() {
  std::string path = outPath("offenders.jsonl");
  if (options.out.empty() ||
      (options.nanCheck.empty() && !sys::fs::exists(path)))
    return Error::success();
  auto file = MetricsFile::open(path, run.step);
  if (!file)
    return file.takeError();
  if (!options.nanCheck.empty())
    offenders.emplace(std::move(*file));
  return Error::success();
}

Error Trainer::writeValues() const {
  if (values.empty())
    return Error::success();
  if (options.log)
    *options.log << "values of step " << valuesStep << "\n" << toText(values);
  if (options.out.empty())
    return Error::success();
  return writeAtomically(outPath("values.json"), [&](OutputFile &file) {
    return file.write(toJson(valuesStep, values));
  });
}

} // namespace mp
