//===- WithoutLock.h - work while other threads of Python run ---*- C++ -*-===//
#ifndef MP_API_PYTHON_WITHOUTLOCK_H
#define MP_API_PYTHON_WITHOUTLOCK_H

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace mantissa::python {

/// Gives Python's lock away for as long as it lives.
class WithoutLock {
public:
  WithoutLock() : thread(PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock &) = delete;
  /// If Python is ending, it ends a thread that wants the lock back (before
  /// version 3.14), by unwinding its stack. Frames of nanobind cannot be
  /// unwound so, and the process would be aborted. As in newer versions, the
  /// thread waits for the end of the process instead.
  ~WithoutLock() noexcept(false) {
    try {
      PyEval_RestoreThread(thread);
    } catch (...) {
      while (true)
        pause();
    }
  }

private:
  PyThreadState *thread;
};

} // namespace mantissa::python

#endif // MP_API_PYTHON_WITHOUTLOCK_H
