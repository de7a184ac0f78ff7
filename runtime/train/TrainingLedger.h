//===- TrainingLedger.h - gradient statistics of a run ----------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGLEDGER_H
#define MP_RUNTIME_TRAIN_TRAININGLEDGER_H

#include "runtime/Model.h"
#include "runtime/data/Shuffle.h"
#include "runtime/numerics/Ledger.h"
#include "runtime/train/Metrics.h"

namespace mp {

struct TrainingLedgerOptions {
  ModelOptions model; ///< the run's, with its loss scaler
  BatchPlan plan;
  uint64_t seed = 0;
  bool shuffle = true;
  ScalesFile scales; ///< where each gradient's own scale is read from
};

/// Writes a run's ledger.jsonl. A session of its own gets the run's variables
/// each time, so that the run is not affected. Random ops draw what they draw
/// in the first step.
class TrainingLedger {
public:
  /// Compiles the entry point that returns gradients. Error: none is f16.
  static llvm::Expected<std::unique_ptr<TrainingLedger>>
  create(TrainingLedgerOptions options, Compiler compiler,
         const SessionFactory &createSession);

  /// Continues after the lines of the first `steps` steps.
  llvm::Error open(llvm::StringRef path, int64_t steps);
  /// Whether the last line is of `step`.
  bool has(int64_t step) const { return file->lastStep() == step; }
  /// Counts on the batch of step `batch`, counted from 0, with the state of
  /// `run` after `step` steps, and adds a line. Returns a warning for the user,
  /// which is not repeated until the problem was absent, or "".
  llvm::Expected<std::string> write(Session &run, const Dataset &data,
                                    int64_t step, int64_t batch);

private:
  TrainingLedger() = default;
  llvm::Error copyState(Session &run);
  llvm::Expected<double> scaleOf(Session &run);
  llvm::Error count(Ledger &ledger, const Dataset &data, int64_t batch);

  TrainingLedgerOptions options;
  std::unique_ptr<Model> model;
  std::optional<MetricsFile> file;
  bool hasWarned = false;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGLEDGER_H
