//===- Routine.h - a library call made ready to run -----------------------===//
#ifndef MP_RUNTIME_CPU_ROUTINE_H
#define MP_RUNTIME_CPU_ROUTINE_H

#include "program/Program.h"
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

/// Makes the routine of `call` for that many workers. Errors: an unknown
/// routine, an attribute that is missing or wrong, a library that cannot be
/// opened.
llvm::Expected<std::unique_ptr<Routine>> createRoutine(const Call &call,
                                                       unsigned workers);

} // namespace mp

#endif // MP_RUNTIME_CPU_ROUTINE_H
