//===- MpiRanks.h - ranks that are processes, which MPI connects ----------===//
//
// MPI is opened at run time, through the plugin libmantissa-mpi.so, which is
// searched for in this order:
//
//   1. MP_MPI_PATH, which names the file
//   2. the folder mantissa/ beside the file that this code is in, and beside
//      the program
//   3. ../lib/mantissa of the program's folder
//
// A thread of its own runs the collectives one after the other, so that they
// overlap with what the program computes.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_RANKS_MPIRANKS_H
#define MP_RUNTIME_RANKS_MPIRANKS_H

#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/RanksOptions.h"

namespace mp {

/// Whether mpirun or the like has started this process as one of several. Loads
/// nothing.
bool isStartedByMpi();

/// Joins the ranks of MPI_COMM_WORLD, or of the communicator in `options`; all
/// of its processes call this at the same time. Initialises MPI if the program
/// has not, and ends it then when the result is destroyed, which all ranks do.
llvm::Expected<std::unique_ptr<Communicator>>
openMpiRanks(const RanksOptions &options = {});

} // namespace mp

#endif // MP_RUNTIME_RANKS_MPIRANKS_H
