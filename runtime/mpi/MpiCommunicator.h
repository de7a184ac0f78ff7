//===- MpiCommunicator.h - ranks of a program that uses MPI itself --------===//
//
// For programs that include mpi.h and link their own MPI, which has to be the
// one that libmantissa-mpi.so was built with. That library is opened at run
// time, as always.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_MPI_MPICOMMUNICATOR_H
#define MP_RUNTIME_MPI_MPICOMMUNICATOR_H

#include "runtime/ranks/MpiRanks.h"
#include <mpi.h>

namespace mp {

/// Makes the processes of `communicator` ranks; all of them call this. MPI is
/// initialised, and is neither initialised nor ended here. The communicator is
/// duplicated. What MPI_Init_thread has provided decides how collectives run:
///
///   MPI_THREAD_MULTIPLE    in a thread of their own
///   MPI_THREAD_SERIALIZED  the same, and the program calls nothing of MPI
///                          while the result lives
///   less                   in the thread that calls `start`, which returns
///                          when the collective has ended. It must be the one
///                          that has initialised MPI. Nothing then notices
///                          ranks that are late or do not answer.
///
/// If one process has less, no rank of the group notices.
inline llvm::Expected<std::unique_ptr<Communicator>>
openMpiRanks(MPI_Comm communicator, RanksOptions options = {}) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  options.communicator = &communicator;
  options.libraryVersion = version;
  return openMpiRanks(options);
}

} // namespace mp

#endif // MP_RUNTIME_MPI_MPICOMMUNICATOR_H
