//===- RunCheckpoint.cpp - saves and restores a run -----------------------===//
#include "runtime/train/RunCheckpoint.h"
#include "runtime/report/PlanReport.h"
#include "runtime/train/CheckpointNames.h"
#include "runtime/train/CheckpointWeights.h"
#include "runtime/train/Progress.h"
#include "runtime/train/RunSettings.h"
#include "runtime/train/ScalerState.h"
#include "runtime/train/WholeSession.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

/// "loss scaler 'megatron' instead of the checkpoint's 'torch': scaler.scale
/// goes on at 4096, scaler.hysteresis_tracker begins at 2, growth_interval is
/// 1000 (2000 in the checkpoint)"
static std::string describeChange(const std::string &before,
                                  const std::string &now,
                                  const ScalerChange &change,
                                  ArrayRef<FieldChange> fields) {
  std::string text =
      change.isNone() ? "the loss scaler has other fields than the checkpoint's"
                      : "the loss scaler is another one than the checkpoint's";
  if (before != now)
    text = formatv("loss scaler {0} instead of the checkpoint's, {1}",
                   settingText(now), settingText(before));
  StringRef separator = ": ";
  raw_string_ostream os(text);
  auto list = [&](const NamedNumbers &numbers, StringRef what) {
    for (auto &[name, value] : numbers) {
      os << separator << name << what << scaleText(value);
      separator = ", ";
    }
  };
  list(change.kept, " goes on at ");
  list(change.begun, " begins at ");
  list(change.dropped, " is not used, which was ");
  for (const FieldChange &field : fields) {
    os << separator << field.name << " is " << field.now << " (" << field.before
       << " in the checkpoint)";
    separator = ", ";
  }
  return text;
}

static std::string planText(const std::string &hash) {
  return hash.empty() ? "without a tuning plan" : "with tuning plan " + hash;
}

static std::string passesText(const std::string &inserted) {
  return inserted.empty() ? "without inserted passes"
                          : "with --insert-pass " + inserted;
}

/// Tells the user how this run differs from the one that saved the checkpoint.
static void noteDifferences(const TrainingRun &run, const RunState &saved,
                            const ScalerChange &change) {
  if (!run.options.log)
    return;
  std::string text;
  raw_string_ostream log(text);
  const Model &model = *run.model;
  auto fields = compareFields(saved.scalerFields, run.scalerFields);
  if (!change.isNone() || !fields.empty() || saved.scaler != run.state.scaler)
    log << "note: "
        << describeChange(saved.scaler, run.state.scaler, change, fields)
        << "\n";
  if (saved.cpu != model.arch())
    log << "note: the checkpoint was made on " << saved.target << " "
        << saved.cpu << "; the last bits of results may differ on "
        << run.session().target() << " " << model.arch() << "\n";
  if (saved.plan != model.plan())
    log << "note: the checkpoint was made " << planText(saved.plan)
        << "; the last bits of results may differ " << planText(model.plan())
        << "\n";
  if (saved.insertPasses != run.state.insertPasses)
    log << "note: the checkpoint was made " << passesText(saved.insertPasses)
        << ", this run goes on " << passesText(run.state.insertPasses) << "\n";
  *run.options.log << withoutControls(text);
}

/// Copies the progress of a run, without its settings.
static void copyProgress(const RunState &from, RunState &to) {
  to.step = from.step;
  to.skippedSteps = from.skippedSteps;
  to.lastScale = from.lastScale;
  to.epochLossSum = from.epochLossSum;
  to.epochLossCount = from.epochLossCount;
  to.evaluated = from.evaluated;
  // The best evaluation by another score is not known.
  bool isSame = to.monitor == from.monitor;
  to.bestStep = isSame ? from.bestStep : 0;
  to.bestScore = isSame ? from.bestScore : 0;
  to.evaluationsSinceBest = isSame ? from.evaluationsSinceBest : 0;
}

/// Refuses the graph of another run, unless the user takes it anyway, and logs
/// the differences with which the run goes on.
static Error checkGraph(const TrainingRun &run, const Checkpoint &checkpoint) {
  const RunState &state = run.state;
  if (!run.options.resumeAnyway)
    if (Error error = checkpoint.checkGraph(state.module, state.graph))
      return makeError("{0}\n  --resume-anyway goes on with this graph",
                       toString(std::move(error)));
  if (run.options.log)
    for (const GraphDifference &difference :
         checkpoint.compareGraph(state.module, state.graph))
      *run.options.log << "note: "
                       << (difference.isHyperparameter
                               ? ""
                               : "the run goes on with another graph: ")
                       << withoutControls(difference.text) << "\n";
  return Error::success();
}

Error restoreRun(TrainingRun &run, const Checkpoint &checkpoint) {
  const RunState &saved = checkpoint.state();
  RunState &state = run.state;
  if (saved.samples != state.samples || saved.batch != state.batch ||
      saved.accumulate != state.accumulate)
    return makeError(
        "checkpoint of another run: {0} samples in batches of {1} times {2}, "
        "expected {3} in batches of {4} times {5}",
        saved.samples, saved.batch, saved.accumulate, state.samples,
        state.batch, state.accumulate);
  WholeSession whole(run.session(), run.options.ranks.get());
  if (Error error = checkpoint.checkVariables(whole))
    return error;
  if (Error error = checkGraph(run, checkpoint))
    return error;
  Expected<ScalerChange> change = checkpoint.restore(whole);
  if (!change)
    return change.takeError();
  noteDifferences(run, saved, *change);
  copyProgress(saved, state);
  state.seed = saved.seed;
  state.shuffle = saved.shuffle;
  return Error::success();
}

Expected<Checkpoint> openToResume(StringRef path) {
  Expected<Checkpoint> newest = Checkpoint::open(path);
  if (newest || !sys::fs::is_directory(path))
    return newest;
  SmallString<256> previous(path);
  sys::path::append(previous, kPreviousCheckpoint);
  Expected<Checkpoint> before = Checkpoint::open(previous);
  if (!before) {
    consumeError(before.takeError());
    return newest;
  }
  return makeError("{0}\n  the checkpoint before it, of step {1}, is whole: "
                   "--resume {2} --out {3} goes on from there",
                   toString(newest.takeError()), before->state().step, previous,
                   path);
}

Error loadRun(TrainingRun &run, StringRef path) {
  Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeError();
  return restoreRun(run, *checkpoint);
}

Error saveRun(TrainingRun &run, StringRef path) {
  run.state.cpu = run.model->arch();
  run.state.plan = run.model->plan();
  run.state.scalerFields = run.scalerFields;
  WholeSession whole(run.session(), run.options.ranks.get());
  if (Error error = whole.gather())
    return error;
  if (run.rank() != 0)
    return Error::success();
  Error error = saveCheckpoint(path, whole, run.state);
  if (!error)
    return error;
  uint64_t needed = 0;
  for (const Variable &variable : whole.variables())
    if (isSaved(variable))
      needed += variable.type.bytes();
  auto room = sys::fs::disk_space(sys::path::parent_path(path));
  std::string free =
      room ? formatv(", of which {0} are free", amountOf(room->available)).str()
           : "";
  return makeError("step {0} is not saved: {1} (it takes {2}{3})",
                   run.state.step, toString(std::move(error)), amountOf(needed),
                   free);
}

Error beginRun(TrainingRun &run) {
  const TrainOptions &options = run.options;
  if (!options.resume.empty())
    return loadRun(run, options.resume);
  copyProgress(RunState(), run.state);
  if (Error error = run.session().initialize(run.state.seed))
    return error;
  if (options.init.empty())
    return Error::success();
  WholeSession whole(run.session(), options.ranks.get());
  return loadWeights(options.init, whole, Weights::Initial, options.initExcept);
}

} // namespace mp
