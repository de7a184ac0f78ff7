//===- TrainingSetUp.h - from options to the first step ---------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_TRAININGSETUP_H
#define MP_RUNTIME_TRAIN_TRAININGSETUP_H

#include "runtime/train/NonFiniteSearch.h"
#include "runtime/train/TrainingLedger.h"
#include "runtime/train/TrainingStep.h"

namespace mp {

/// A run that is ready for its next step.
struct TrainingSetUp {
  std::unique_ptr<TrainingRun> run;
  std::unique_ptr<NonFiniteSearch> search;
  std::unique_ptr<TrainingStep> steps;
  std::unique_ptr<TrainingLedger> ledger; ///< null if no ledger is requested
};

/// Settles the options with the checkpoint's, opens the module, finds the data,
/// calibrates if requested, reads the data while the step is compiled, and
/// fills the state variables. The log says what was chosen.
llvm::Expected<TrainingSetUp> setUpTraining(TrainOptions options,
                                            Compiler compiler,
                                            SessionFactory createSession);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_TRAININGSETUP_H
