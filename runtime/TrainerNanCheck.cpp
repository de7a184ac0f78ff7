//===- TrainerNanCheck.cpp - what a step says is not finite ---------------===//
#include "runtime/Error.h"
#include "runtime/Trainer.h"
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

/// What is wrong before the first step is not what a step's records tell.
Error Trainer::lookAtStart() {
  for (const Variable &variable : session().variables()) {
    if (variable.kind != VariableKind::Parameter ||
        !isFloat(variable.type.element))
      continue;
    std::vector<char> bytes(variable.type.bytes());
    if (Error error = session().read(variable.name, bytes))
      return error;
    ValueRange range = rangeOf(variable.type, bytes);
    if (range.isFinite)
      continue;
    range.name = "variable '" + variable.name + "'";
    range.source = variable.location;
    range.phase = "variable";
    atStart = Offender{.value = std::move(range)};
    return Error::success();
  }
  return Error::success();
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
  if (all)
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
  std::optional<Offender> exact;
  if (canReplay) {
    auto replayed = replayStep();
    if (!replayed)
      return replayed.takeError();
    exact = std::move(*replayed);
  }
  if (exact) {
    found = std::move(exact);
  } else if (!found) {
    found = atStart ? atStart
                    : findOffender(entry, readRecords(entry, results), applied,
                                   /*isCertain=*/true);
    if (found)
      describeSamples(*found, metrics.step - 1, wholeStep);
  }
  if (!broken.empty())
    gaveUp = formatv("step {0} made state that is not finite: {1}",
                     metrics.step, broken);
  else if (metrics.skipped && scaler == "none")
    gaveUp = formatv("the gradients of step {0} are not finite, and there is "
                     "no loss scaler that could make up for it; the step was "
                     "not applied",
                     metrics.step);
  return found ? reportOffender(std::move(*found), metrics) : Error::success();
}

Error Trainer::reportOffender(Offender found, StepMetrics &metrics) {
  offender = std::move(found);
  metrics.nonFinite = offender->str();
  if (!offenders)
    return Error::success();
  offenders->add(metrics.step, toJson(*offender));
  return offenders->flush();
}

void Trainer::showOffender(Progress &progress, const StepMetrics &metrics) {
  constexpr int64_t most = 10;
  if (metrics.nonFinite.empty() || !options.log || ++offendersFound > most)
    return;
  progress.endLine();
  *options.log << "step " << metrics.step << " is not finite, beginning with "
               << metrics.nonFinite << "\n";
  if (offendersFound == most)
    *options.log << "further ones are not shown"
                 << (options.out.empty() ? "" : ", but in offenders.jsonl")
                 << "\n";
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
