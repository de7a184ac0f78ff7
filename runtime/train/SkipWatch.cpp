//===- SkipWatch.cpp - ends a run whose steps are all skipped -------------===//
#include "runtime/train/SkipWatch.h"
#include "runtime/train/Progress.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

Error SkipWatch::stepFinished(StepMetrics &metrics) {
  skippedInRow = metrics.changedNothing() ? skippedInRow + 1 : 0;
  hasTrained |= skippedInRow == 0;
  int64_t most = run.options.maxSkipped;
  if (metrics.exhausted)
    run.gaveUp = formatv("the loss scaler goes no lower: at scale {0} the "
                         "gradients of step {1} still overflow",
                         scaleText(metrics.scale), metrics.step);
  else if (most > 0 && skippedInRow >= most)
    run.gaveUp = formatv("{0} steps in a row were skipped, the last at loss "
                         "scale {1}",
                         skippedInRow, scaleText(metrics.scale));
  return Error::success();
}

/// Gives up a run that skipped all its steps, unless it is short: a few steps
/// cannot reduce the scale far, and such a run can be resumed.
void SkipWatch::judgeSkips() {
  const RunState &state = run.state;
  bool skippedAll =
      state.step > 0 && state.skippedSteps == state.step && !hasTrained;
  if (!run.gaveUp.empty() || !skippedAll)
    return;
  constexpr int64_t fewSteps = 10;
  std::string scale = scaleText(state.lastScale);
  if (state.step >= std::min(fewSteps, run.totalSteps()))
    run.gaveUp = formatv("all {0} steps were skipped, so that nothing was "
                         "trained; the last had loss scale {1}",
                         state.step, scale);
  else if (run.options.log)
    *run.options.log << "note: all steps so far were skipped, the last at loss "
                        "scale "
                     << scale << "\n";
}

Error SkipWatch::judge() {
  judgeSkips();
  const std::string &module = run.options.module, &why = run.gaveUp;
  if (why.empty())
    return Error::success();
  Expected<std::string> place = search.explain();
  if (!place)
    return joinErrors(makeError("{0}: {1}", module, why), place.takeError());
  if (place->empty())
    return makeError("{0}: {1}; run again, all its values are finite", module,
                     why);
  return makeError("{0}: {1}. What is not finite comes first from {2}", module,
                   why, *place);
}

} // namespace mp
