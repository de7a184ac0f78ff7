//===- TrainingLedger.h - gradient statistics of a run ----------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGLEDGER_H
#define MP_RUNTIME_TRAIN_TRAININGLEDGER_H

#include "runtime/Model.h"
#include "runtime/data/Shuffle.h"
#include "runtime/numerics/Ledger.h"
#include "runtime/train/Metrics.h"

namespace mp {

struct TrainingLedgerOptions {
  ModelOptions model; ///< the options of the run's model
  BatchPlan plan;
  uint64_t seed = 0;
  bool shuffle = true;
  ScalesFile scales; ///< the file that gives each gradient a scale
};

/// Writes the ledger.jsonl of a run. It copies the variables of the run to a
/// session of its own, so that it does not affect the run. Random ops draw what
/// they draw in the first step.
class TrainingLedger {
public:
  /// Compiles the entry point that returns gradients. Fails if no gradient is
  /// f16.
  static llvm::Expected<std::unique_ptr<TrainingLedger>>
  create(TrainingLedgerOptions options, Compiler compiler,
         const SessionFactory &createSession);

  /// Opens the file and keeps the lines of the first `steps` steps.
  llvm::Error open(llvm::StringRef path, int64_t steps);
  /// Returns whether the last line is of that step.
  bool has(int64_t step) const { return file->lastStep() == step; }
  /// Adds a line: the statistics of batch `batch`, counted from 0, in the state
  /// of `run` after `step` steps. Returns a warning when one begins to apply,
  /// or "".
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
