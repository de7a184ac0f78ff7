//===- TensorBoardWriter.h - a run as TensorBoard shows it ------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TENSORBOARDWRITER_H
#define MP_RUNTIME_TRAIN_TENSORBOARDWRITER_H

#include "runtime/train/EvaluationObserver.h"
#include "runtime/train/EventFile.h"
#include <chrono>

namespace mp {

/// Writes metrics and evaluations to an event file in the run folder about once
/// a second. If that fails, a note says so and the run goes on without: the
/// same numbers are in metrics.jsonl and evaluations.jsonl.
class TensorBoardWriter : public TrainingObserver {
public:
  TensorBoardWriter(const TrainingRun &run,
                    const EvaluationObserver &evaluations,
                    ProgressObserver &progress)
      : run(run), evaluations(evaluations), progress(progress) {}

  llvm::Error begin() override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  llvm::Error runEnded(const TrainOutcome &outcome) override;

private:
  using Clock = std::chrono::steady_clock;
  void addEvaluation();
  void flush();

  const TrainingRun &run;
  const EvaluationObserver &evaluations;
  ProgressObserver &progress;
  std::optional<EventFile> file;
  int64_t evaluated = 0; ///< step of the last evaluation that was added
  Clock::time_point flushed = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TENSORBOARDWRITER_H
