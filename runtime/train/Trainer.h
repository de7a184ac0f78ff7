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
  /// Compiles the step, binds and checks the data, initialises, loads the
  /// weights or the checkpoint. `compiler` is mp::compile. Errors have
  /// locations and name the file at fault.
  static llvm::Expected<std::unique_ptr<Trainer>>
  create(TrainOptions options, Compiler compiler,
         SessionFactory createSession = Session::create);
  ~Trainer();

  /// Runs one step on the next batch and waits for it. Fails after the last
  /// step, which is that of `maxSteps` if it is set.
  llvm::Expected<StepMetrics> step();

  /// Runs the remaining steps; writes plan.json, casts.json, metrics.jsonl,
  /// checkpoint.safetensors, summary.json and, if requested, ledger.jsonl to
  /// the run folder; evaluates on the data source `test` if there is one;
  /// profiles if requested, unless a signal came. After all that is saved,
  /// fails if the loss scaler gave up, `maxSkipped` steps in a row were
  /// skipped, or all steps were; the error includes the text of explainSkip().
  llvm::Expected<TrainOutcome> train();

  /// Replays the last step in a form that changes no state, and says where a
  /// value first stops being finite: "mp.exp at net.mlir:5:8", or "input 'x'",
  /// or "" if all are finite. That form is compiled at the first call.
  llvm::Expected<std::string> explainSkip();

  /// The cost of a whole batch's step; with micro-batches, that of one
  /// micro-batch and the update. The state is unchanged.
  llvm::Expected<Profile> profile();

  /// Means of the scalar results of `evaluate` over the data source `test`.
  llvm::Expected<NamedNumbers> evaluate();

  /// Writes a checkpoint of the current state.
  llvm::Error save(llvm::StringRef path);
  /// Moves to the state of a checkpoint of the same graph, data and batch.
  llvm::Error load(llvm::StringRef path);

  /// The state variables: read(name, bytes) and write(name, bytes).
  Session &session();
  int64_t stepsDone() const;
  int64_t stepsPerEpoch() const;
  /// Length of the schedule: epochs times steps per epoch.
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
