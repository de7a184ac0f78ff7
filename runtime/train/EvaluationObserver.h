//===- EvaluationObserver.h - scores while a run trains ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_EVALUATIONOBSERVER_H
#define MP_RUNTIME_TRAIN_EVALUATIONOBSERVER_H

#include "runtime/train/Confusion.h"
#include "runtime/train/Monitor.h"
#include "runtime/train/RunLog.h"
#include "runtime/train/TrainingObserver.h"
#include "runtime/train/TrainingStep.h"

namespace mp {

/// The scores on the data source `test` after a step.
struct Evaluation {
  int64_t step = 0, epoch = 0; ///< both counted from 1
  double seconds = 0;          ///< that the evaluation took
  /// "loss", "accuracy"; those of averaged weights begin with "ema.".
  NamedNumbers scores = {};
};

/// Returns a line of evaluations.jsonl.
std::string toJson(const Evaluation &evaluation);

/// Evaluates every `evalEvery` steps and after the last, with the weights and,
/// if the recipe keeps them, with their moving averages. Keeps track of the
/// best evaluation and ends a run that has had none for `patience` evaluations.
class EvaluationObserver : public TrainingObserver {
public:
  EvaluationObserver(TrainingRun &run, TrainingStep &steps,
                     ProgressObserver &progress)
      : run(run), steps(steps), progress(progress),
        lines(run, progress, "evaluations.jsonl") {}

  /// Fails if the score to monitor is not one that evaluations have.
  llvm::Error checkMonitor();
  /// Removes the lines of steps that are run again.
  llvm::Error open();
  llvm::Error begin() override;
  int64_t nextPause() const override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  /// Writes what the last evaluation took for what to confusion.json.
  llvm::Error runEnded(const TrainOutcome &outcome) override;

  /// Returns the scores of the current state, which are evaluated unless they
  /// are known. A run that is to go on later is not due to be evaluated where
  /// it stops, and such scores are no line of the file. No step may be in
  /// flight.
  llvm::Expected<NamedNumbers> current();
  /// Returns the last evaluation of this process, or null.
  const Evaluation *last() const { return latest ? &*latest : nullptr; }

private:
  int64_t period() const;
  bool isDue(int64_t step) const;
  llvm::Expected<Evaluation> measure();
  llvm::Error evaluate();
  double monitored() const;
  llvm::Error compare();
  void say(bool isBest);

  TrainingRun &run;
  TrainingStep &steps;
  ProgressObserver &progress;
  RunLog lines;
  std::optional<Monitor> monitor;
  std::optional<Evaluation> latest;
  std::optional<Confusion> confusion; ///< by the last evaluated weights
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_EVALUATIONOBSERVER_H
