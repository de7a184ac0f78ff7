//===- Trainer.h - trains a module on a folder of data --------------------===//
//
// The C++ API of training, without MLIR types. `examples/train_api.cpp` shows
// it in thirty lines.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_TRAINER_H
#define MP_RUNTIME_TRAIN_TRAINER_H

#include "runtime/train/Checkpoint.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/TrainOptions.h"

namespace mp {

struct TrainingSetUp;

class Trainer {
public:
  /// Compiles the step, binds and checks the data, and initialises the state or
  /// loads weights or a checkpoint. `compiler` is mp::compile. Errors have a
  /// location or name the file that is wrong.
  static llvm::Expected<std::unique_ptr<Trainer>>
  create(TrainOptions options, Compiler compiler,
         SessionFactory createSession = Session::create);
  ~Trainer();

  /// Runs one step on the next batch and waits for it. Fails after the last
  /// step, which `maxSteps` may determine.
  llvm::Expected<StepMetrics> step();

  /// Runs the remaining steps. Writes plan.json, casts.json, metrics.jsonl,
  /// checkpoint.safetensors, summary.json and, if the options ask for it,
  /// ledger.jsonl to the run folder. Scores the data source `test` if there is
  /// one, and profiles if the options ask for it and no signal came. Fails,
  /// after saving, if the loss scaler is exhausted, if `maxSkipped` consecutive
  /// steps were skipped, or if all steps were. The error says what
  /// explainSkip() returns.
  llvm::Expected<TrainOutcome> train();

  /// Runs the last step again, in a form that changes no state, and returns the
  /// non-finite origin: "mp.exp at net.mlir:5:8", "input 'x'", or "" if all
  /// values are finite. The first call compiles this form.
  llvm::Expected<std::string> explainSkip();

  /// Measures the cost of the step of a whole batch; with micro-batches, that
  /// of one micro-batch and the update. The state stays as it is.
  llvm::Expected<Profile> profile();

  /// Returns the means of the scalar results of `evaluate` over the data source
  /// `test`.
  llvm::Expected<NamedNumbers> evaluate();

  /// Writes a checkpoint of the current state.
  llvm::Error save(llvm::StringRef path);
  /// Restores a checkpoint of the same graph, data and batch.
  llvm::Error load(llvm::StringRef path);

  /// Returns the session, whose read(name, bytes) and write(name, bytes) access
  /// the state variables.
  Session &session();
  int64_t stepsDone() const;
  int64_t stepsPerEpoch() const;
  /// Returns the length of the schedule: epochs times steps per epoch.
  int64_t totalSteps() const;
  double compileSeconds() const;

private:
  struct Observers;
  explicit Trainer(TrainingSetUp made);

  std::unique_ptr<TrainingSetUp> parts;
  std::unique_ptr<Observers> observers;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAINER_H
