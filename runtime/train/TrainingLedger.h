//===- TrainingLedger.h - the ledger of a run as it goes on -----*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGLEDGER_H
#define MP_RUNTIME_TRAIN_TRAININGLEDGER_H

#include "runtime/Model.h"
#include "runtime/data/Shuffle.h"
#include "runtime/numerics/Ledger.h"
#include "runtime/train/Metrics.h"

namespace mp {

struct TrainingLedgerOptions {
  ModelOptions model; ///< the run's; its loss scaler is the run's
  BatchPlan plan;
  uint64_t seed = 0;
  bool shuffle = true;
  ScalesFile scales; ///< how to give each gradient a scale of its own
};

/// Writes a run's ledger.jsonl. It has a session of its own, which gets the
/// run's variables each time, so that the run goes on as if nobody had looked.
/// Random ops draw what they draw in the first step.
class TrainingLedger {
public:
  /// Compiles what gradients are read from. Error: none is f16.
  static llvm::Expected<std::unique_ptr<TrainingLedger>>
  create(TrainingLedgerOptions options, Compiler compiler,
         const SessionFactory &createSession);

  /// Goes on after the lines of the first `steps` steps.
  llvm::Error open(llvm::StringRef path, int64_t steps);
  /// Whether the last line is of that step.
  bool has(int64_t step) const { return file->lastStep() == step; }
  /// Counts on the batch of step `batch`, from 0 on, with the state of `run`
  /// after `step` steps, and adds a line. Returns what a person should know,
  /// once until it is mended, or "".
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
