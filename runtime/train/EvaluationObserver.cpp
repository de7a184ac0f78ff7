//===- EvaluationObserver.cpp - scores while a run trains -----------------===//
#include "runtime/train/EvaluationObserver.h"
#include "program/Names.h"
#include "runtime/train/AveragedWeights.h"
#include "runtime/train/Evaluate.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace llvm;

namespace mp {

static constexpr StringLiteral kAveraged = "ema.";

std::string toJson(const Evaluation &evaluation) {
  NamedNumbers numbers = {{"seconds", static_cast<float>(evaluation.seconds)}};
  llvm::append_range(numbers, evaluation.scores);
  return toJson({{"step", evaluation.step}, {"epoch", evaluation.epoch}},
                numbers);
}

int64_t EvaluationObserver::period() const {
  int64_t every = run.state.evalEvery;
  return every > 0 ? every : run.plan.stepsPerEpoch();
}

bool EvaluationObserver::isDue(int64_t step) const {
  return run.testData && step > 0 &&
         (step % period() == 0 || step == run.totalSteps());
}

/// A name that no result has would otherwise be noticed after an epoch.
Error EvaluationObserver::checkMonitor() {
  if (run.state.monitor.empty())
    return Error::success();
  auto parsed = Monitor::parse(run.state.monitor);
  if (!parsed)
    return parsed.takeError();
  monitor = std::move(*parsed);
  if (!run.testData)
    return makeError("{0}: there is nothing to monitor: the module has no data "
                     "source 'test'",
                     run.options.module);
  Expected<StepProgram *> step = steps.program(run.plan.largest());
  if (!step)
    return step.takeError();
  std::vector<std::string> names = {"loss"};
  for (unsigned index : (*step)->others)
    names.push_back((*step)->last->entry().results[index].name);
  StringRef score = monitor->score;
  if (score.consume_front(kAveraged) && !AveragedWeights(run.session()).any())
    return makeError("{0}: there is no '{1}' to monitor: the recipe keeps no "
                     "averages of weights, as ema = 0.999 in mp.minimize does",
                     run.options.module, monitor->score);
  if (is_contained(names, score))
    return Error::success();
  // That this is a score depends on what is evaluated, not on the step.
  Expected<BatchPlan> plan =
      evaluationPlan(*run.model, *run.testData, run.plan.microRows());
  if (!plan)
    return plan.takeError();
  Expected<Executable *> evaluation =
      run.model->get(Goal::Evaluate, kEvaluateEntry, plan->largest());
  if (!evaluation)
    return evaluation.takeError();
  if (Confusion::of((*evaluation)->entry()))
    names.push_back(kMacroF1Score.str());
  if (is_contained(names, score))
    return Error::success();
  return makeError("{0}: no result '{1}' to monitor{2}; there are {3}",
                   run.options.module, score, suggest(score, names),
                   quoteList(names));
}

Error EvaluationObserver::open() {
  bool hasOld = sys::fs::exists(run.path("evaluations.jsonl"));
  return run.testData || hasOld ? lines.open() : Error::success();
}

Error EvaluationObserver::begin() {
  // A signal may have come before this step was evaluated.
  return isDue(run.state.step) && run.state.evaluated != run.state.step
             ? evaluate()
             : compare();
}

int64_t EvaluationObserver::nextPause() const {
  return run.testData ? nextMultiple(run.state.step, period()) : never;
}

Error EvaluationObserver::stepFinished(StepMetrics &) {
  return isDue(run.state.step) && !run.isEnding() ? evaluate()
                                                  : Error::success();
}

Expected<NamedNumbers> EvaluationObserver::current() {
  if (latest && latest->step == run.state.step)
    return latest->scores;
  auto made = measure();
  if (!made)
    return made.takeError();
  return made->scores;
}

Expected<Evaluation> EvaluationObserver::measure() {
  auto start = std::chrono::steady_clock::now();
  Evaluation made;
  made.step = run.state.step;
  made.epoch = run.plan.epoch(std::max<int64_t>(made.step - 1, 0)) + 1;
  auto score = [&](StringRef prefix) -> Error {
    auto found = scores(*run.model, *run.testData, run.plan.microRows(),
                        prefix.empty() && run.writes() ? &confusion : nullptr);
    if (!found)
      return found.takeError();
    for (const auto &[name, value] : *found)
      made.scores.emplace_back(prefix.str() + name, value);
    return Error::success();
  };
  if (Error error = score(""))
    return std::move(error);
  AveragedWeights averages(run.session());
  Expected<bool> exist = averages.exist();
  if (!exist)
    return exist.takeError();
  if (*exist) {
    if (Error error = averages.swapIn())
      return std::move(error);
    if (Error error = joinErrors(score(kAveraged), averages.swapBack()))
      return std::move(error);
  }
  made.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return made;
}

Error EvaluationObserver::evaluate() {
  auto made = measure();
  if (!made)
    return made.takeError();
  latest = std::move(*made);
  if (!lines.endsWith(latest->step))
    lines.add(latest->step, toJson(*latest));
  lines.flush();
  return compare();
}

/// The monitored score of the last evaluation. Averages have none before a step
/// was applied.
double EvaluationObserver::monitored() const {
  for (const auto &[name, value] : latest->scores)
    if (name == monitor->score)
      return value;
  return NAN;
}

/// Compares the last evaluation with the best, and ends a run that has waited
/// for a better one for long enough.
Error EvaluationObserver::compare() {
  RunState &state = run.state;
  bool isBest = false;
  if (latest && state.evaluated != latest->step) {
    state.evaluated = latest->step;
    isBest = monitor && monitor->record(monitored(), state);
    say(isBest);
  }
  if (!monitor || state.patience == 0 ||
      state.evaluationsSinceBest < state.patience || !run.stopped.empty())
    return Error::success();
  run.stopped = formatv("{0} evaluations in a row were not better than {1} {2} "
                        "of step {3}",
                        state.evaluationsSinceBest, monitor->score,
                        metricText(state.bestScore), state.bestStep);
  if (run.options.log)
    *run.options.log << "note: training ends early, after step " << state.step
                     << ": " << run.stopped << "\n";
  return Error::success();
}

Error EvaluationObserver::runEnded(const TrainOutcome &) {
  if (Error error = lines.finish())
    return error;
  return confusion
             ? run.write("confusion.json",
                         confusion->json(run.state.step, run.state.classes))
             : Error::success();
}

/// "epoch 2  test loss 0.3521  accuracy 0.8731  best"
void EvaluationObserver::say(bool isBest) {
  if (!run.options.log)
    return;
  std::string text;
  raw_string_ostream os(text);
  os << "epoch " << latest->epoch << "  step " << latest->step << "  test ";
  ListSeparator gap("  ");
  for (const auto &[name, value] : latest->scores)
    os << StringRef(gap) << name << " " << metricText(value);
  if (isBest)
    os << "  the best so far";
  else if (monitor && run.state.bestStep)
    os << "  (best " << metricText(run.state.bestScore) << " after step "
       << run.state.bestStep << ")";
  progress.endLine();
  *run.options.log << withoutControls(text) << "\n";
}

} // namespace mp
