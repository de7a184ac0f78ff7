//===- Trainer.h - trains a module on a folder of data --------------------===//
//
// The C++ API of training, without a type of MLIR. `examples/train_api.cpp`
// shows it in thirty lines.
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
  /// weights or the checkpoint. `compiler` is mp::compile. Errors are located
  /// and name the file that is wrong.
  static llvm::Expected<std::unique_ptr<Trainer>>
  create(TrainOptions options, Compiler compiler,
         SessionFactory createSession = Session::create);
  ~Trainer();

  /// Runs one step on the next batch and waits for it. Error after the last
  /// step, which is that of `maxSteps` where there is one.
  llvm::Expected<StepMetrics> step();

  /// Runs the steps that are left; writes plan.json, casts.json, metrics.jsonl,
  /// checkpoint.safetensors, summary.json and, where it is asked for,
  /// ledger.jsonl to the run folder; scores the data source `test` if there is
  /// one; profiles where that is asked for and no signal came. An error, once
  /// all that is saved, where the loss scaler gave up, `maxSkipped` steps in a
  /// row were skipped, or all steps were: it says what explainSkip() does.
  llvm::Expected<TrainOutcome> train();

  /// Runs the last step again, in a form that changes no state, and says where
  /// a value stops being finite first: "mp.exp at net.mlir:5:8", or "input
  /// 'x'", or "" where all are. Compiles that form when it is first asked for.
  llvm::Expected<std::string> explainSkip();

  /// What a whole batch's step costs; with micro-batches, what one and the
  /// update cost. The state is as before.
  llvm::Expected<Profile> profile();

  /// Means of the scalar results of `evaluate` over the data source `test`.
  llvm::Expected<NamedNumbers> evaluate();

  /// Writes a checkpoint of this moment.
  llvm::Error save(llvm::StringRef path);
  /// Goes back to (or on from) a checkpoint of the same graph, data and batch.
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
