//===- StepReplay.cpp - replays one step with a record of every op --------===//
#include "runtime/train/StepReplay.h"
#include "program/Names.h"
#include "runtime/data/Convert.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {

namespace {
/// Sets the state that every step attempt changes back to what the last attempt
/// found, as long as this exists.
class Rewound {
public:
  Rewound(Session &session, double scale) : session(session) {
    for (const Variable &variable : session.variables()) {
      bool isScale = variable.role.kind == VariableRole::Kind::Scale;
      if (!isScale && variable.kind != VariableKind::Attempt)
        continue;
      std::vector<char> bytes(variable.type.bytes());
      if (Error error = session.read(variable.name, bytes)) {
        consumeError(std::move(error)); // the next run reports it
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

Expected<std::optional<NonFiniteOrigin>>
replayStep(TrainingRun &run, int64_t step, ReplayFrom from) {
  const BatchPlan &plan = run.plan;
  Prefetcher inputs(*run.trainData, run.binding, run.batches(step, step + 1));
  bool gathers = run.state.accumulate > 1;
  StringRef name = gathers ? kDiagnoseAccumulateEntry : kDiagnoseEntry;
  std::optional<NonFiniteOrigin> found;
  auto look = [&](StringRef function, int64_t rows, Executable::Inputs in,
                  std::optional<int64_t> micro) -> Error {
    auto executable = run.model->get(Goal::Diagnose, function, rows);
    if (!executable)
      return executable.takeError();
    std::optional<Rewound> rewound;
    if (from == ReplayFrom::StateAfterSkip)
      rewound.emplace(run.session(), run.state.lastScale);
    auto results = (*executable)->run(in, Executable::Ranges::Known);
    if (!results)
      return results.takeError();
    if (found)
      return Error::success();
    const Entry &entry = (*executable)->entry();
    found = findNonFiniteOrigin(entry, readRecords(entry, *results),
                                /*applied=*/true, /*isCertain=*/!gathers);
    if (found)
      describeSamples(run, *found, step, micro);
    return Error::success();
  };
  for (int64_t micro = 0; micro < plan.microBatches(step); ++micro)
    if (Error error = look(name, plan.rows(step, micro), *inputs.next(), micro))
      return error;
  // `apply` also ends the window.
  if (gathers)
    if (Error error =
            look(kDiagnoseApplyEntry, plan.microRows(), {}, std::nullopt))
      return error;
  return found;
}

void describeSamples(const TrainingRun &run, NonFiniteOrigin &origin,
                     int64_t step, std::optional<int64_t> micro) {
  const BatchPlan &plan = run.plan;
  origin.step = step + 1;
  auto order = orderOfEpoch(run.state.seed, plan.epoch(step), plan.samples,
                            run.state.shuffle);
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
