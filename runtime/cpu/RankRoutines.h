//===- RankRoutines.h - calls that exchange tensors between ranks ---------===//
#ifndef MP_RUNTIME_CPU_RANKROUTINES_H
#define MP_RUNTIME_CPU_RANKROUTINES_H

#include "runtime/cpu/Routine.h"

namespace mp {

/// "mpi.all_reduce" and the other exchanges: starts one. A session without a
/// communicator is the only rank.
llvm::Expected<std::unique_ptr<Routine>>
createExchange(const Call &call, const RoutineContext &context);
/// "mpi.wait".
llvm::Expected<std::unique_ptr<Routine>>
createWait(const Call &call, const RoutineContext &context);
/// "mpi.rank".
llvm::Expected<std::unique_ptr<Routine>>
createRank(const Call &call, const RoutineContext &context);

} // namespace mp

#endif // MP_RUNTIME_CPU_RANKROUTINES_H
