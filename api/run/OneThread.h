//===- OneThread.h - keeps other threads out --------------------*- C++ -*-===//
#ifndef MP_API_RUN_ONETHREAD_H
#define MP_API_RUN_ONETHREAD_H

#include "llvm/Support/Error.h"
#include <atomic>

namespace mantissa {

/// What one thread at a time may use.
class OneThread {
public:
  /// Keeps other threads out while a call runs.
  class Lock;

private:
  std::atomic<bool> isBusy = false;
};

class OneThread::Lock {
public:
  explicit Lock(OneThread &used)
      : used(used), isMine(!used.isBusy.exchange(true)) {}
  ~Lock() {
    if (isMine)
      used.isBusy = false;
  }
  /// An error if another thread is in a call.
  llvm::Error take() const {
    return isMine ? llvm::Error::success()
                  : llvm::createStringError(
                        "another thread is using this step: a step "
                        "is for one thread at a time");
  }

private:
  OneThread &used;
  bool isMine;
};

} // namespace mantissa

#endif // MP_API_RUN_ONETHREAD_H
