//===- TrainerSkips.cpp - when steps are skipped for good -----------------===//
#include "program/Names.h"
#include "runtime/data/Convert.h"
#include "runtime/train/Progress.h"
#include "runtime/train/Trainer.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

/// Whether the run should end, because it will not recover by itself.
bool Trainer::givesUp(const StepMetrics &metrics) {
  skippedInRow = metrics.changedNothing() ? skippedInRow + 1 : 0;
  hasTrained |= skippedInRow == 0;
  if (metrics.exhausted)
    gaveUp = formatv("the loss scaler goes no lower: at scale {0} the "
                     "gradients of step {1} still overflow",
                     scaleText(metrics.scale), metrics.step);
  else if (options.maxSkipped > 0 && skippedInRow >= options.maxSkipped)
    gaveUp = formatv("{0} steps in a row were skipped, the last at loss scale "
                     "{1}",
                     skippedInRow, scaleText(metrics.scale));
  return !gaveUp.empty();
}

/// Why the run is of no use; success where it is of use, or may become.
Error Trainer::checkSkips() {
  bool skippedAll = run.step > 0 && run.skippedSteps == run.step && !hasTrained;
  // In a few steps no scale comes down far, and such a run can be resumed.
  constexpr int64_t fewSteps = 10;
  bool canGoOn = run.step < std::min(fewSteps, totalSteps());
  if (gaveUp.empty() && skippedAll && canGoOn && options.log)
    *options.log << "note: all steps so far were skipped, the last at loss "
                    "scale "
                 << scaleText(run.lastScale) << "\n";
  if (gaveUp.empty() && skippedAll && !canGoOn)
    gaveUp = formatv("all {0} steps were skipped, so that nothing was trained; "
                     "the last had loss scale {1}",
                     run.step, scaleText(run.lastScale));
  if (gaveUp.empty())
    return Error::success();
  Expected<std::string> place = explainSkip();
  if (!place)
    return joinErrors(makeError("{0}: {1}", options.module, gaveUp),
                      place.takeError());
  if (place->empty())
    return makeError("{0}: {1}; run again, all its values are finite",
                     options.module, gaveUp);
  return makeError("{0}: {1}. What is not finite comes first from {2}",
                   options.module, gaveUp, *place);
}

namespace {
/// Puts the state that every try changes back to where the last step found it,
/// as long as this lives.
class Rewound {
public:
  Rewound(Session &session, double scale) : session(session) {
    for (const Variable &variable : session.variables()) {
      bool isScale = variable.kind == VariableKind::Scaler &&
                     variable.type.element == ElementType::F32;
      if (!isScale && variable.kind != VariableKind::Attempt)
        continue;
      std::vector<char> bytes(variable.type.bytes());
      if (Error error = session.read(variable.name, bytes)) {
        consumeError(std::move(error)); // the run that follows says it
        continue;
      }
      kept.emplace_back(variable.name, bytes);
      ElementType type = variable.type.element;
      storeElement(type, isScale ? scale : loadElement(type, bytes.data()) - 1,
                   bytes.data());
      consumeError(session.write(variable.name, bytes));
    }
  }
  ~Rewound() {
    for (auto &[name, bytes] : kept)
      consumeError(session.write(name, bytes));
  }
  Rewound(const Rewound &) = delete;

private:
  Session &session;
  std::vector<std::pair<std::string, std::vector<char>>> kept;
};
} // namespace

Expected<std::optional<Offender>> Trainer::replayStep(int64_t step,
                                                      bool rewinds) {
  Prefetcher inputs(*trainData, binding,
                    {.plan = plan,
                     .seed = run.seed,
                     .shuffle = run.shuffle,
                     .firstStep = step,
                     .lastStep = step + 1});
  bool gathers = run.accumulate > 1;
  StringRef name = gathers ? kDiagnoseAccumulateEntry : kDiagnoseEntry;
  std::optional<Offender> found;
  auto look = [&](StringRef function, int64_t rows, Executable::Inputs in,
                  int64_t micro) -> Error {
    auto executable = model->get(Goal::Diagnose, function, rows);
    if (!executable)
      return executable.takeError();
    std::optional<Rewound> rewound;
    if (rewinds)
      rewound.emplace(session(), run.lastScale);
    auto results = (*executable)->run(in, Executable::Ranges::Known);
    if (!results)
      return results.takeError();
    if (found)
      return Error::success();
    const Entry &entry = (*executable)->entry();
    found = findOffender(entry, readRecords(entry, *results), /*applied=*/true,
                         /*isCertain=*/!gathers);
    if (found)
      describeSamples(*found, step, micro);
    return Error::success();
  };
  for (int64_t micro = 0; micro < plan.microBatches(step); ++micro)
    if (Error error = look(name, plan.rows(step, micro), *inputs.next(), micro))
      return error;
  // It also ends the window.
  if (gathers)
    if (Error error =
            look(kDiagnoseApplyEntry, plan.microRows(), {}, wholeStep))
      return error;
  return found;
}

Expected<std::string> Trainer::explainSkip() {
  if (run.step == 0 && !offender)
    return makeError("{0}: no step was run yet", options.module);
  auto found = offender && offender->step >= run.step
                   ? Expected<std::optional<Offender>>(offender)
                   : replayStep(run.step - 1, /*rewinds=*/true);
  if (!found)
    return found.takeError();
  return *found ? (*found)->str() : "";
}

} // namespace mp
