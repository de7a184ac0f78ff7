//===- Routine.cpp - the table of library routines ------------------------===//
#include "runtime/cpu/Routine.h"
#include "runtime/cpu/OnednnMatmul.h"
#include "runtime/cpu/RankRoutines.h"

using namespace mp;

namespace {

struct Known {
  llvm::StringLiteral name;
  llvm::Expected<std::unique_ptr<Routine>> (*create)(const Call &,
                                                     const RoutineContext &);
};

constexpr Known kTable[] = {
    {"dnnl.matmul", createOnednnMatmul},
    {"mpi.all_reduce", createExchange},
    {"mpi.all_gather", createExchange},
    {"mpi.reduce_scatter", createExchange},
    {"mpi.broadcast_from", createExchange},
    {"mpi.wait", createWait},
    {"mpi.rank", createRank},
};

} // namespace

llvm::Expected<std::unique_ptr<Routine>>
mp::createRoutine(const Call &call, const RoutineContext &context) {
  std::string names;
  for (const Known &known : kTable) {
    if (known.name == call.routine) {
      auto routine = known.create(call, context);
      if (!routine)
        return llvm::createStringError("routine '" + call.routine + "': " +
                                       llvm::toString(routine.takeError()));
      return routine;
    }
    names += (names.empty() ? "" : ", ") + known.name.str();
  }
  return llvm::createStringError("unknown routine '" + call.routine +
                                 "'; known: " + names);
}
