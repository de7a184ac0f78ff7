//===- Routine.h - a library call made ready to run -----------------------===//
#ifndef MP_RUNTIME_CPU_ROUTINE_H
#define MP_RUNTIME_CPU_ROUTINE_H

#include "program/Program.h"
#include "runtime/ranks/Communicator.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mp {

/// One Call of a Program, with everything made that depends on its shapes
/// alone.
class Routine {
public:
  virtual ~Routine() = default;
  /// Makes what `worker` needs. Called first, on each worker's own thread, on
  /// several at a time.
  virtual llvm::Error prepare(unsigned worker) = 0;
  /// Bytes of scratch a task needs.
  virtual uint64_t scratchBytes() const = 0;
  /// Computes the work items [begin, end), which are one task of the call's
  /// grid and block, on the thread of `worker`. `args` are the call's, in its
  /// order.
  virtual void run(void *const *args, int64_t begin, int64_t end, void *scratch,
                   unsigned worker) = 0;
};

/// The surroundings of the routines of one entry point.
struct RoutineContext {
  unsigned workers = 1;
  Communicator *ranks = nullptr; ///< null: there is one rank
  /// The exchanges that the entry's calls have started, in their order.
  std::shared_ptr<std::vector<Communicator::Ticket>> exchanges =
      std::make_shared<std::vector<Communicator::Ticket>>();
};

/// Makes the routine of `call`, in the order of the entry's calls. Errors: an
/// unknown routine, an attribute that is missing or wrong, a library that
/// cannot be opened.
llvm::Expected<std::unique_ptr<Routine>>
createRoutine(const Call &call, const RoutineContext &context);

} // namespace mp

#endif // MP_RUNTIME_CPU_ROUTINE_H
