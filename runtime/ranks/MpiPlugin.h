//===- MpiPlugin.h - opens MPI at run time --------------------------------===//
#ifndef MP_RUNTIME_RANKS_MPIPLUGIN_H
#define MP_RUNTIME_RANKS_MPIPLUGIN_H

#include "runtime/mpi/MpiTable.h"
#include "llvm/Support/Error.h"

namespace mp {

/// The table of libmantissa-mpi.so, which is opened at the first call and never
/// closed. An error says what to install. Thread-safe.
llvm::Expected<const MpiTable &> openMpi();

} // namespace mp

#endif // MP_RUNTIME_RANKS_MPIPLUGIN_H
