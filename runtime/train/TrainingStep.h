//===- TrainingStep.h - runs the compiled step on batches -----------------===//
#ifndef MP_RUNTIME_TRAIN_TRAININGSTEP_H
#define MP_RUNTIME_TRAIN_TRAININGSTEP_H

#include "runtime/train/StepProgram.h"
#include "runtime/train/TrainingRun.h"
#include <chrono>
#include <deque>
#include <set>

namespace mp {

/// The results of a finished step, which are valid until the next one is
/// submitted.
struct StepResults {
  const Entry &entry;
  Executable::Results results;
  bool overlaps; ///< whether later steps are in flight
};

/// Inspects steps while their results are valid.
class StepInspector {
public:
  virtual ~StepInspector() = default;
  /// Called after a micro-batch of `step` (counted from 0) was submitted.
  virtual llvm::Error microBatch(Executable &executable,
                                 Executable::Ticket ticket, int64_t step,
                                 int64_t micro) = 0;
  /// Called after a step has finished. May add to its metrics.
  virtual llvm::Error finished(const StepResults &step,
                               StepMetrics &metrics) = 0;
};

/// Runs the steps of a run on its batches in order. On a device, several steps
/// are in flight at a time.
class TrainingStep {
public:
  /// `inspector` is called for every step, unless it is null.
  TrainingStep(TrainingRun &run, StepInspector *inspector)
      : run(run), inspector(inspector) {}

  /// Returns the step for micro-batches of a size, compiled if necessary. An
  /// error says where the loss is missing, or why a bucket cannot be trained.
  llvm::Expected<StepProgram *> program(BatchSize size);

  size_t underWay() const { return steps.size(); }
  /// Returns the number of steps that have finished or are in flight.
  int64_t submitted() const { return run.state.step + underWay(); }
  /// Submits the next step.
  llvm::Error submit() { return submit(inspector); }
  /// Waits for the oldest step in flight, and counts it as done.
  llvm::Expected<StepMetrics> finish() { return finish(inspector); }
  /// Runs the next step without the inspector, which has seen it before.
  llvm::Error repeat();
  /// Drops the steps in flight. The next step is the one after `run.state`.
  void drop();

  /// Measures the cost of a step. The state stays as it is.
  llvm::Expected<Profile> profile();

private:
  using Clock = std::chrono::steady_clock;
  struct UnderWay {
    const StepProgram *program;
    Executable::Ticket ticket;
    Clock::time_point start;
    double dataWait; ///< as in StepMetrics
  };

  llvm::Error checkBucket(const Entry &entry, int64_t length);
  llvm::Error setIdle(bool now);
  llvm::Error submit(StepInspector *inspector);
  llvm::Expected<StepMetrics> finish(StepInspector *inspector);
  void count(const StepMetrics &metrics);

  TrainingRun &run;
  StepInspector *inspector;
  std::map<BatchSize, StepProgram> programs;
  std::set<int64_t> checked;           ///< lengths of buckets
  std::unique_ptr<Prefetcher> batches; ///< of the steps to submit
  bool isIdle = false;                 ///< as of the last step submitted
  std::deque<UnderWay> steps;          ///< from run.state.step on
  Clock::time_point lastFinish = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGSTEP_H
