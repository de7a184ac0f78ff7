//===- RunRanks.h - what the ranks of a run agree on ------------*- C++ -*-===//
#ifndef MP_RUNTIME_TRAIN_RUNRANKS_H
#define MP_RUNTIME_TRAIN_RUNRANKS_H

#include "runtime/train/TrainingRun.h"

namespace mp {

/// Returns an error on every rank if there is one on any, with the ranks that
/// have it. Every rank calls it, with its own error.
llvm::Error agree(Communicator &ranks, llvm::Error own);

/// Fails, on every rank, unless all run the same build on the same module, data
/// and settings. The error names the first rank that differs, and in what.
llvm::Error checkAlike(const TrainingRun &run);

/// Adds the times of exchanges to a trace.
void traceExchanges(Communicator &ranks, std::shared_ptr<Trace> trace);

/// Writes one trace of all ranks, each a process in it. Every rank calls it.
llvm::Error writeTraceOfRanks(const TrainingRun &run);

/// Why a rank ends before its last step.
struct Ending {
  int64_t signal = 0; ///< that came, or 0
  int64_t rank = -1;  ///< the last rank that cannot go on, or -1
  bool operator==(const Ending &) const = default;
};
/// Returns the ending of all ranks: the highest signal and the last rank.
llvm::Expected<Ending> agree(Communicator &ranks, Ending own);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_RUNRANKS_H
