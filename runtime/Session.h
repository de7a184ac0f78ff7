//===- Session.h - loads Programs and runs their entry points -------------===//
#ifndef MP_RUNTIME_SESSION_H
#define MP_RUNTIME_SESSION_H

#include "codegen/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>

namespace mp {

struct SessionOptions {
  unsigned threads =
      0; ///< workers, the caller's thread included; 0: one a core
};

/// An entry point linked and ready. Owned by its Session.
class Executable {
public:
  virtual ~Executable() = default;
  virtual const Entry &entry() const = 0;
  /// Runs all steps. `inputs[i]` holds entry().inputs[i].type.bytes() bytes,
  /// 64-byte aligned for speed, and is only read. Allocates nothing.
  virtual void run(llvm::ArrayRef<const void *> inputs) = 0;
  /// Result `i` of the last run; valid until the next run of any Executable.
  virtual const void *result(unsigned i) const = 0;
};

/// State variables, the arena, the thread pool and the linked kernels. Programs
/// loaded into one Session share variables by name; a variable that two
/// Programs declare differently is an error. One arena serves all entry points,
/// as they never run at the same time. Not thread-safe.
class Session {
public:
  static llvm::Expected<std::unique_ptr<Session>>
  create(const SessionOptions &options = {});
  virtual ~Session() = default;

  /// Links the Program's kernels (a known symbol is not linked again),
  /// allocates variables that are new, grows the arena. Errors: a CPU feature
  /// the host lacks, a routine whose library cannot be opened, a variable that
  /// disagrees, a plan that does not fit into memory.
  virtual llvm::Error load(Program program) = 0;

  /// Fills every variable by its initialiser, Philox4x32-10 keyed by `seed` and
  /// the variable's name, then runs `derive` where a Program brought one.
  virtual llvm::Error initialize(uint64_t seed) = 0;
  /// Runs the entry point `derive` where a Program brought one.
  virtual void derive() = 0;

  virtual llvm::ArrayRef<Variable> variables() const = 0;
  /// The variable's bytes, or empty where there is none of that name.
  virtual llvm::MutableArrayRef<char> storage(llvm::StringRef variable) = 0;

  /// The entry point, or null.
  virtual Executable *find(llvm::StringRef function, int64_t batch) = 0;

  /// Bytes of variables and of the arena together: the plan.
  virtual uint64_t plannedBytes() const = 0;
  virtual unsigned threads() const = 0;
};

} // namespace mp

#endif // MP_RUNTIME_SESSION_H
