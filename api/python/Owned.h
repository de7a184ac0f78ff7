//===- Owned.h - steps and generators of Python -----------------*- C++ -*-===//
#ifndef MP_API_PYTHON_OWNED_H
#define MP_API_PYTHON_OWNED_H

#include "api/python/Notes.h"
#include "api/python/WithoutLock.h"
#include "api/run/OneThread.h"
#include "mantissa-exceptions.h"
#include "support/Error.h"

namespace mantissa::python {

template <typename T> inline constexpr llvm::StringLiteral kNameOf = "step";
template <>
inline constexpr llvm::StringLiteral kNameOf<Generator> = "generator";

/// A Step or a Generator, which one thread at a time uses, and only the process
/// that made it.
template <typename T> class Owned {
public:
  Owned(T made, std::shared_ptr<Notes> notes)
      : made(new T(std::move(made))), notes(std::move(notes)) {}
  ~Owned() {
    // A process that was forked has no threads that could be waited for.
    if (getpid() != process)
      (void)made.release();
  }

  /// Calls a function of the library without Python's lock, and `convert` on
  /// what it returns, while no other thread may use the step.
  template <typename Function, typename Convert>
  auto use(Function function, Convert convert) {
    checkProcess();
    OneThread::Lock lock(users);
    check(lock.take(kNameOf<T>));
    auto value = [&] {
      WithoutLock waiting;
      return check(function(*made));
    }();
    notes->warn();
    return convert(std::move(value));
  }

  /// Calls a function that returns an llvm::Error.
  template <typename Function> void use(Function function) {
    use(
        [&](T &made) -> llvm::Expected<bool> {
          if (llvm::Error error = function(made))
            return std::move(error);
          return true;
        },
        [](bool) {});
  }

  const T &facts() const { return *made; }

private:
  void checkProcess() const {
    if (getpid() != process)
      throw Error(mp::makeError("this {0} belongs to process {1}, which "
                                "process {2} is a fork of: make it after "
                                "the fork",
                                kNameOf<T>, process, getpid()));
  }

  std::unique_ptr<T> made;
  std::shared_ptr<Notes> notes;
  OneThread users;
  pid_t process = getpid();
};

} // namespace mantissa::python

#endif // MP_API_PYTHON_OWNED_H
