//===- Routine.cpp - the table of library routines ------------------------===//
#include "runtime/cpu/Routine.h"
#include "runtime/cpu/OnednnMatmul.h"

using namespace mp;

namespace {

struct Known {
  llvm::StringLiteral name;
  llvm::Expected<std::unique_ptr<Routine>> (*create)(const Call &, unsigned);
};

constexpr Known kTable[] = {
    {"dnnl.matmul", createOnednnMatmul},
};

} // namespace

llvm::Expected<std::unique_ptr<Routine>> mp::createRoutine(const Call &call,
                                                           unsigned workers) {
  std::string names;
  for (const Known &known : kTable) {
    if (known.name == call.routine) {
      auto routine = known.create(call, workers);
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
