//===- StepReplay.cpp - replays one step with a record of every op --------===//
#include "runtime/train/StepReplay.h"
#include "runtime/train/StepDiagnosis.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {

Expected<std::optional<NonFiniteOrigin>>
replayStep(TrainingRun &run, int64_t step, ReplayFrom from) {
  const BatchPlan &plan = run.plan;
  Prefetcher inputs(*run.trainData, run.binding, run.batches(step, step + 1));
  bool gathers = run.state.accumulate > 1;
  std::optional<double> skippedScale;
  if (from == ReplayFrom::StateAfterSkip)
    skippedScale = run.state.lastScale;
  StepDiagnosis diagnosis(*run.model, gathers, skippedScale);
  for (int64_t micro = 0; micro < plan.microBatches(step); ++micro) {
    auto found = diagnosis.run(inputs, plan.size(step, micro));
    if (!found)
      return found.takeError();
    if (*found)
      describeSamples(run, *diagnosis.origin, step, micro);
  }
  if (gathers) {
    auto found = diagnosis.apply(plan.size(step, 0));
    if (!found)
      return found.takeError();
    if (*found)
      describeSamples(run, *diagnosis.origin, step, std::nullopt);
  }
  return diagnosis.origin;
}

void describeSamples(const TrainingRun &run, NonFiniteOrigin &origin,
                     int64_t step, std::optional<int64_t> micro) {
  const BatchPlan &plan = run.plan;
  origin.step = step + 1;
  auto order = plan.order(run.state.seed, plan.epoch(step), run.state.shuffle);
  int64_t rows = micro ? plan.rows(step, *micro) : plan.rows(step);
  auto samples =
      ArrayRef(order).slice(plan.firstRow(step, micro.value_or(0)), rows);
  origin.samples = samples.vec();
  if (origin.value.row && *origin.value.row < rows)
    origin.sample = samples[*origin.value.row];
  raw_string_ostream os(origin.samplesText);
  if (!run.state.shuffle) {
    os << "samples " << samples.front() << " to " << samples.back();
    return;
  }
  constexpr size_t most = 8;
  os << rows << (rows == 1 ? " sample" : " samples") << " of epoch "
     << plan.epoch(step) + 1 << ": ";
  interleaveComma(samples.take_front(most), os);
  if (samples.size() > most)
    os << ", ...";
}

} // namespace mp
