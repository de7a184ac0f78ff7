//===- CollectiveCall.h - exchanges among the calls of a Program ----------===//
#ifndef MP_RUNTIME_RANKS_COLLECTIVECALL_H
#define MP_RUNTIME_RANKS_COLLECTIVECALL_H

#include "runtime/ranks/Communicator.h"

namespace mp {

/// Reads what a call exchanges; see Call in program/Program.h. `kind` is the
/// routine's name without its library, as "all_reduce". Errors: an attribute
/// that is missing or wrong, another number of arguments, tensors that `ranks`
/// ranks cannot divide, a rank that there is not.
llvm::Expected<Collective> readCollective(const Call &call,
                                          llvm::StringRef kind, int64_t ranks);

/// Fails if a program exchanges tensors with another number of ranks.
llvm::Error checkRanks(const Program &program, int64_t ranks);

} // namespace mp

#endif // MP_RUNTIME_RANKS_COLLECTIVECALL_H
