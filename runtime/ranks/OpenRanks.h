//===- OpenRanks.h - joins the processes of this run ------------*- C++ -*-===//
#ifndef MP_RUNTIME_RANKS_OPENRANKS_H
#define MP_RUNTIME_RANKS_OPENRANKS_H

#include "runtime/cuda/NcclRanks.h"
#include "runtime/ranks/MpiRanks.h"

namespace mp {

/// Joins the processes that this one has been started with; null if it is
/// alone. All of them call this at the same time.
///
///   mpirun, srun   MPI connects the ranks, on CPUs and on CUDA devices
///   torchrun       NCCL connects the ranks, on CUDA devices alone, by RANK,
///                  WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT
///
/// If the variables of both are there, torchrun's hold in a process that
/// torchrun itself has started, as it may itself run under srun or mpirun;
/// otherwise MPI's do. Errors: what has started the process has set no sound
/// variables, or what connects the ranks is missing or fails.
llvm::Expected<std::shared_ptr<Communicator>>
openRanks(const RanksOptions &options = {});

} // namespace mp

#endif // MP_RUNTIME_RANKS_OPENRANKS_H
