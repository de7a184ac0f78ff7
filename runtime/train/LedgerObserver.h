//===- LedgerObserver.h - gradient statistics while a run trains ----------===//
#ifndef MP_RUNTIME_TRAIN_LEDGEROBSERVER_H
#define MP_RUNTIME_TRAIN_LEDGEROBSERVER_H

#include "runtime/train/ProgressObserver.h"
#include "runtime/train/TrainingLedger.h"

namespace mp {

/// Returns the ledger that the options ask for, or null. `model` are the
/// options with which the model of the run was opened.
llvm::Expected<std::unique_ptr<TrainingLedger>>
makeLedger(const TrainingRun &run, ModelOptions model, Compiler compiler,
           const SessionFactory &createSession);

/// Adds a line to the ledger before the first step, every `ledgerEvery` steps
/// and at the end.
class LedgerObserver : public TrainingObserver {
public:
  LedgerObserver(const TrainingRun &run, TrainingLedger *ledger,
                 ProgressObserver &progress)
      : run(run), ledger(ledger), progress(progress) {}

  /// Removes the lines of steps that are run again. Without a ledger, removes
  /// those of an earlier run.
  llvm::Error open();
  llvm::Error begin() override { return write(); }
  int64_t nextPause() const override;
  llvm::Error stepFinished(StepMetrics &metrics) override;
  llvm::Error stepsEnded(bool interrupted) override;

private:
  llvm::Error write();

  const TrainingRun &run;
  TrainingLedger *ledger; ///< null if the run has no ledger
  ProgressObserver &progress;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_LEDGEROBSERVER_H
